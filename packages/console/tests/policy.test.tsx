import { stage, workspaceId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen } from '@testing-library/react';
import { useState } from 'react';
import {
  activatePolicy,
  getPolicyVersion,
  listPolicyVersions,
  putPolicyDraft,
} from '@countersign/contracts/control-plane';
import { Activate } from '../src/policy/activate.tsx';
import { PolicyVersions } from '../src/policy/policy-versions.tsx';
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

describe('the versions of a policy', () => {
  const hash = `sha256:${'0'.repeat(64)}`;
  const id = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
  const version = (epoch: number, state: 'active' | 'replaced') => ({
    ...{ epoch, state, policy_hash: hash, base_hash: hash, requested_by: `usr_${id}` },
    ...{ requested_at: '2026-01-01T00:00:00.000Z', report_id: `wif_${id}`, receipt_id: `rcp_${id}` },
  });
  const rule = { id: 'deny-1', effect: 'deny' as const, match: {} };

  it('show their changes, and become the draft after a confirmation', async () => {
    const { peer, user, show } = stage();
    peer.answers(listPolicyVersions, { data: [version(2, 'active'), version(1, 'replaced')], next_cursor: null });
    const change = { rules: [{ rule_id: 'deny-1', before: null, after: rule }], other_members: ['tools'] };
    peer.answers(getPolicyVersion, { ...version(1, 'replaced'), text: '{"name":"first"}', change });
    const stored = { version: 7 } as Parameters<typeof PolicyVersions>[0]['draft']; // only the version is read
    show(<PolicyVersions draft={stored} />);
    expect((await screen.findAllByText(/^Version \d/)).map(({ textContent }) => textContent?.slice(0, 9))).toEqual([
      'Version 2',
      'Version 1',
    ]);
    expect(screen.getAllByText('in force')).toHaveLength(1);
    expect(peer.requests(getPolicyVersion)).toEqual([]);
    await user.click(screen.getByText(/^Version 1/));
    expect((await screen.findByText(/was added/)).textContent).toMatch(/^Rule deny-1 was added/);
    screen.getByText('Also changed: tools');
    peer.answers(putPolicyDraft, {
      ...{ workspace_id: workspaceId, version: 8, state: 'editing', text: '{"name":"first"}', policy_hash: null },
      ...{ report_id: null, updated_by: `usr_${id}`, updated_at: '2026-01-01T00:00:00.000Z' },
    });
    await user.click(screen.getByRole('button', { name: 'Use as draft' }));
    await screen.findByText(/replaces version 7 of the draft/);
    expect(peer.requests(putPolicyDraft)).toEqual([]);
    await user.click(screen.getByRole('button', { name: 'Replace the draft' }));
    await screen.findByText(/^Version 2/);
    const [written] = peer.requests(putPolicyDraft).map(({ body, headers }) => [body, headers.get('if-match')]);
    expect(written).toEqual([{ text: '{"name":"first"}' }, '"7"']);
  });

  it('are none before the first activation', async () => {
    const { peer, show } = stage();
    peer.answers(listPolicyVersions, { data: [], next_cursor: null });
    show(<PolicyVersions draft={null} />);
    await screen.findByText(/No draft was activated here yet/);
  });
});
