import { stage, workspaceId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen } from '@testing-library/react';
import { useState } from 'react';
import { activatePolicy } from '@countersign/contracts/control-plane';
import { Activate } from '../src/policy/activate.tsx';
import { RuleForm } from '../src/policy/rule-form.tsx';

const draft = JSON.stringify({ name: 'own', rules: [{ id: 'deny-1', effect: 'deny' }] });

describe('a rule that is added by form', () => {
  async function atForm(begun = draft) {
    const texts: string[] = [];
    function Desk() {
      const [text, setText] = useState(begun);
      texts.push(text);
      return <RuleForm text={text} onChange={setText} />;
    }
    const here = stage();
    here.show(<Desk />);
    await here.user.click(await screen.findByText('Add a rule by form'));
    return { ...here, written: () => JSON.parse(texts.at(-1) ?? '') as { rules: object[] }, texts };
  }

  it('is rejected by the form when it names no tool', async () => {
    const { user, texts } = await atForm();
    await user.type(screen.getByLabelText(/^Calls of these tools/), ' , {Enter}');
    expect(screen.getByText('Enter at least one tool.')).toBeTruthy();
    expect(new Set(texts)).toEqual(new Set([draft]));
  });

  it('is added after the others under a free id, and the form is cleared', async () => {
    const { user, written } = await atForm();
    const tools = screen.getByLabelText<HTMLInputElement>(/^Calls of these tools/);
    await user.type(tools, 'vault.*, crm.delete{Enter}');
    expect(written().rules).toEqual([
      { id: 'deny-1', effect: 'deny' },
      { id: 'deny-2', effect: 'deny', match: { tool: ['vault.*', 'crm.delete'] } },
    ]);
    expect(tools.value).toBe('');
  });

  it('is not offered for a draft that is not JSON', async () => {
    const { texts } = await atForm('{');
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Add to the draft' }).disabled).toBe(true);
    expect(new Set(texts)).toEqual(new Set(['{']));
  });
});

describe('a draft', () => {
  const hash = `sha256:${'0'.repeat(64)}`;
  const props = {
    report: { widened: [{}] },
    reportId: 'wif_01ARZ3NDEKTSV4RRFFQ69G5FAV',
    policyHash: hash,
    active: { policy_hash: `sha256:${'1'.repeat(64)}` },
  } as unknown as Parameters<typeof Activate>[0]; // only the members that the form reads

  it('is activated with the number of widened decisions and the version that was read, once the workspace name is typed', async () => {
    const { peer, user, show } = stage();
    show(<Activate {...props} />);
    const name = await screen.findByLabelText('Type the name of the workspace: Vault');
    await user.type(name, 'Another{Enter}');
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Activate' }).disabled).toBe(true);
    expect(peer.requests(activatePolicy)).toEqual([]);
    const [decision_id, receipt] = ['dec_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'rcp_01ARZ3NDEKTSV4RRFFQ69G5FAV'];
    const ids = { decision_id, decision_receipt_id: receipt, policy_receipt_id: receipt };
    peer.answers(activatePolicy, { policy_hash: hash, epoch: 4, report_hash: hash, ...ids });
    await user.clear(name);
    await user.type(name, 'Vault{Enter}');
    await screen.findByText(/In force as version 4/);
    expect(
      peer.requests(activatePolicy).map(({ params, body, headers }) => [params['id'], body, headers.get('if-match')]),
    ).toEqual([
      [
        workspaceId,
        { policy_hash: hash, report_id: 'wif_01ARZ3NDEKTSV4RRFFQ69G5FAV', acknowledge_widened: 1 },
        `"sha256:${'1'.repeat(64)}"`,
      ],
    ]);
  });

  it('is activated only by owners', async () => {
    stage().show(<Activate {...props} />, { role: 'partner' });
    await screen.findByText('Only owners can activate a draft.');
    expect(screen.queryByRole('button', { name: 'Activate' })).toBeNull();
  });
});
