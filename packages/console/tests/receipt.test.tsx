import { at, stage, workspaceId } from './_dom.tsx';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { screen, waitFor, within } from '@testing-library/react';
import { getPolicyDraft } from '@countersign/contracts/control-plane';
import {
  exportReceipts,
  getInclusionProof,
  getReceipt,
  listApprovals,
  listReceipts,
  listRecords,
  listTrustKeys,
} from '@countersign/contracts/governance-kernel';
import { followKeys } from '../src/keys/shortcuts.ts';
import { ActivityPage } from '../src/activity/activity-page.tsx';
import type { Claim, Verified } from '../src/activity/verification.ts';
import { approvalCalled } from './_approval.ts';

const idOf = (last: string) => `rcp_01ARZ3NDEKTSV4RRFFQ69G5FA${last}`;
const hash = `sha256:${'0'.repeat(64)}`;
const hostile = 'clerk<img src=x>\u202e';
const payload = {
  ...{ type: 'countersign.receipt.v1', receipt_id: idOf('V'), kind: 'decision', tenant_id: workspaceId },
  ...{ principal_id: hostile, session_id: 's', decision_id: 'dec_01ARZ3NDEKTSV4RRFFQ69G5FAV', record_hash: hash },
  ...{ verdict: 'DENY', reason_code: 'POLICY_DENIED', action: 'tool.call', tool: 'mail.send', resource: null },
  ...{ effect_level: 'E3', args_hash: hash, policy_hash: hash, policy_epoch: 4, shadow: false },
  ...{ lamport_clock: 3, prev_hash: hash, issued_at: at },
};
const signature = { alg: 'Ed25519', key_id: 'key-1', value: 'A'.repeat(86) };
const receiptOf = (members: object = {}) => ({
  payload: { ...payload, ...members },
  ...{ signature, receipt_hash: hash, log_index: 11 },
});
const record = {
  ...{ type: 'countersign.record.v1', record_id: 'rec_01ARZ3NDEKTSV4RRFFQ69G5FAV', kind: 'decision' },
  ...{ decision_id: payload.decision_id, receipt_id: payload.receipt_id, tenant_id: workspaceId, session_id: 's' },
  ...{ principal_id: hostile, verdict: 'DENY', reason_code: 'POLICY_DENIED', gate_roster_hash: hash },
  intent: {
    ...{ action: 'tool.call', tool: 'mail.send', resource: null, effect_level: 'E3', args_hash: hash },
    ...{ intent_hash: hash, facts: { 'args.to': '<b>stranger</b>' } as object },
  },
  gates: [
    { gate: 'request', outcome: 'pass' },
    { gate: 'rules', outcome: 'deny', reason_code: 'POLICY_DENIED' },
    { gate: 'budget', outcome: 'not_reached' },
  ],
  ...{ policy_hash: hash, policy_epoch: 4, matched_rules: ['no-mail'], authz_snapshot_hash: null },
  ...{ sandbox_grant_hash: null, tool_definition_hash: null, mcp_server_id: null, budgets: [] },
  ...{ approval_id: null as string | null, shadow: [], created_at: at, record_hash: hash },
};
const keys = { keys: [], log_origin: 'log', log_vkey: 'vkey' };
const proof = {
  ...{ receipt_id: payload.receipt_id, log_index: 11, tree_size: 12, hashes: [] },
  checkpoint: {
    ...{ checkpoint_id: 'chk_01ARZ3NDEKTSV4RRFFQ69G5FAV', tree_size: 12, root_hash: hash, receipt_count: 12 },
    ...{ record_count: 12, previous_checkpoint_id: null, note: 'note', created_at: at },
  },
};
const genuine: Verified = {
  ...{ isProven: true, keyId: 'key-1', treeSize: 12 },
  time: { kind: 'logged', by: at, problem: null },
};

/** The answer of the scripted worker. Tests of components have no real worker. */
let finding: Verified | null;
const claims: Claim[] = [];

class ScriptedWorker extends EventTarget {
  postMessage(claim: Claim): void {
    claims.push(claim);
    queueMicrotask(() =>
      this.dispatchEvent(
        finding === null
          ? Object.assign(new Event('error'), { message: 'no worker' })
          : new MessageEvent('message', { data: finding }),
      ),
    );
  }
  terminate(): void {}
}

beforeEach(() => {
  finding = genuine;
  claims.length = 0;
  Object.assign(globalThis, { Worker: ScriptedWorker });
});
const stops: (() => void)[] = [];
afterEach(() => {
  Reflect.deleteProperty(globalThis, 'Worker');
  for (const stop of stops.splice(0)) stop();
});

type Opened = { receipt?: object; recorded?: object; others?: object[]; path?: string };

function open({
  receipt = receiptOf(),
  recorded: kept = record,
  others = [],
  path = `/activity/${idOf('V')}`,
}: Opened = {}) {
  const here = stage();
  const { peer } = here;
  // Must come before `getReceipt`, because the path of `getReceipt` also matches this path.
  peer.answers(exportReceipts, []);
  peer.answers(getReceipt, receipt);
  peer.answers(listRecords, { data: [kept], next_cursor: null });
  peer.answers(listReceipts, { data: others, next_cursor: null });
  peer.answers(listTrustKeys, keys);
  peer.answers(getInclusionProof, proof);
  peer.refuses(getPolicyDraft, 'CONTROL_PLANE_UNAVAILABLE');
  here.show(<ActivityPage />, { path });
  return here;
}

const region = async (name: string) => within(await screen.findByRole('region', { name }));

describe('the page of a receipt', () => {
  it('shows the reason of the decision, the facts that the rules read, and the next steps', async () => {
    open();
    const title = await screen.findByRole('heading', { level: 1, name: /was not allowed to call mail.send/ });
    expect(title.textContent).toContain('<img src=x>');
    expect(title.textContent).not.toContain('\u202e');
    expect(document.querySelector('img')).toBeNull();
    await screen.findByText('POLICY_DENIED');
    (await region('What you can do')).getByText(/What you can do/);
    const decided = await region('How it was decided');
    await decided.findByText('1 check passed');
    decided.getByText(/^Rules: /);
    decided.getByText('1 later check not reached');
    const read = await region('What the rules read');
    expect([read.getByText('args.to').textContent, read.getByText('<b>stranger</b>').tagName]).toEqual([
      'args.to',
      'BDI',
    ]);
    expect(screen.queryByRole('region', { name: 'Approval' })).toBeNull();
  });

  it('verifies its receipt at once, and lists what was checked and what that does not prove', async () => {
    const { user } = open();
    const checked = await region('Verification');
    await checked.findByText('Genuine and unchanged');
    expect(checked.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Signature.*key-1/),
        expect.stringMatching(/^Content.*hash/),
        expect.stringMatching(/^Place in the log11 in a signed log of 12 receipts/),
        expect.stringMatching(/^LoggedOnly the log of this installation states its time/),
        expect.stringMatching(/^Whether the keys are the right ones/),
      ]),
    );
    expect(claims).toEqual([{ receipt: receiptOf(), keys, proof, witnesses: null }]);
    await user.click(checked.getByRole('button', { name: 'Check again' }));
    await checked.findByText('Genuine and unchanged');
    expect(claims).toHaveLength(2);
  });

  it('reports that the receipt is not genuine when it does not verify, and shows no check as passed', async () => {
    finding = { isProven: false, code: 'SIGNATURE_INVALID', message: 'the signature does not verify' };
    open();
    const alert = await (await region('Verification')).findByRole('alert');
    expect(alert.textContent).toMatch(
      /Not genuine.*It does not verify: the signature does not verify SIGNATURE_INVALID/,
    );
    expect(screen.queryByRole('list', { name: 'Checks' })).toBeNull();
    expect(screen.queryByText('Genuine and unchanged')).toBeNull();
  });

  it('shows that the witnesses of the person cosigned it, and why they do not count', async () => {
    const { user } = open();
    const checked = await region('Verification');
    await checked.findByText('Genuine and unchanged');
    finding = { ...genuine, time: { kind: 'witnessed', by: at } };
    await user.click(checked.getByText('Your witnesses'));
    await user.type(checked.getByLabelText('Witnesses that you trust'), 'quorum w1');
    await user.click(checked.getByRole('button', { name: 'Save witnesses' }));
    await waitFor(() => checked.getByText(/^Your witnesses had cosigned it by/));
    expect(claims.map(({ witnesses }) => witnesses)).toEqual([null, 'quorum w1']);
    finding = { ...genuine, time: { kind: 'logged', by: at, problem: 'Too few of your witnesses' } };
    await user.click(checked.getByRole('button', { name: 'Check again' }));
    await checked.findByText(/Too few of your witnesses/);
    localStorage.removeItem('countersign-witnesses');
  });

  it('reports a fault, and no result, when the verification could not run', async () => {
    const { peer, user } = open();
    const checked = await region('Verification');
    await checked.findByText('Genuine and unchanged');
    peer.refuses(getInclusionProof, 'GOVERNANCE_UNAVAILABLE');
    await user.click(checked.getByRole('button', { name: 'Check again' }));
    await checked.findByRole('alert');
    expect(screen.queryByText('Genuine and unchanged')).toBeNull();
    expect(screen.queryByText('Not genuine')).toBeNull();
  });

  it('lists other calls of the tool with the same verdict, without the call itself', async () => {
    const { peer } = open({ others: [receiptOf(), receiptOf({ receipt_id: idOf('X') })] });
    const similar = await region('Similar calls');
    const link = await similar.findByRole('link', { name: 'mail.send' });
    expect(link.getAttribute('href')).toContain(`/activity/${idOf('X')}`);
    expect(similar.getAllByRole('row')).toHaveLength(1);
    const [request] = peer.requests(listReceipts).filter(({ query }) => 'tool' in query);
    expect(request?.query).toMatchObject({ tool: 'mail.send', verdict: 'DENY', kind: 'decision' });
    expect(similar.getByRole('link', { name: 'See all' }).getAttribute('href')).toContain('verdict=DENY');
  });

  it('shows the approval that the call requested, with its votes', async () => {
    const { approval_id: approvalId } = approvalCalled(1);
    const request = { verdict: 'ESCALATE', reason_code: 'APPROVAL_REQUIRED' };
    const here = stage();
    const { peer } = here;
    peer.answers(listApprovals, { data: [{ ...approvalCalled(1), approved_by: ['ada'] }], next_cursor: null });
    peer.answers(getReceipt, receiptOf(request));
    peer.answers(listRecords, { data: [{ ...record, ...request, approval_id: approvalId }], next_cursor: null });
    peer.answers(listReceipts, { data: [], next_cursor: null });
    peer.answers(listTrustKeys, keys);
    peer.answers(getInclusionProof, proof);
    peer.refuses(getPolicyDraft, 'CONTROL_PLANE_UNAVAILABLE');
    here.show(<ActivityPage />, { path: `/activity/${idOf('V')}` });
    const approval = await region('Approval');
    await approval.findByText('Waiting');
    approval.getByText(/1 of 1/);
    expect(peer.requests(listApprovals)[0]?.query).toEqual({ approval_id: approvalId, omit: 'args' });
  });

  it('shows an outcome without the sections of a decision, and links to its decision', async () => {
    const outcome = { kind: 'outcome', outcome: 'completed', verdict: 'ALLOW', decision_receipt_id: idOf('X') };
    open({ receipt: receiptOf(outcome) });
    const link = await screen.findByRole('link', { name: 'the receipt of its decision' });
    expect(link.getAttribute('href')).toContain(`/activity/${idOf('X')}`);
    for (const name of ['How it was decided', 'Similar calls', 'What you can do'])
      expect(screen.queryByRole('region', { name })).toBeNull();
  });

  it('sends no request for an address that is not a receipt', async () => {
    const { peer } = open({ path: '/activity/nothing' });
    await screen.findByText('No receipt has this id');
    expect(peer.requests(getReceipt)).toEqual([]);
  });
});

describe('a receipt in its session', () => {
  const neighbours = [receiptOf({ receipt_id: idOf('W') }), receiptOf({ receipt_id: idOf('X') })];

  it('links to the receipts before and after it, also by keys', async () => {
    const { peer, user } = open({ others: [neighbours[0] ?? {}] });
    stops.push(followKeys(document));
    const session = await region('In its session');
    const links = await session.findAllByRole('link', { name: /was not allowed to call mail.send/ });
    expect(links).toHaveLength(2);
    const requests = peer.requests(listReceipts).map(({ query }) => query);
    expect(requests).toEqual(
      expect.arrayContaining([
        { session_id: 's', lamport_clock: '2', limit: '1' },
        { session_id: 's', lamport_clock: '4', limit: '1' },
      ]),
    );
    await user.keyboard('j');
    await waitFor(() => expect(peer.requests(getReceipt).at(-1)?.params['receipt_id']).toBe(idOf('W')));
  });

  it('has no receipt before the first one, and requests none', async () => {
    const { peer } = open({ receipt: receiptOf({ lamport_clock: 1 }) });
    const session = await region('In its session');
    await session.findByText('No earlier receipt. This is number 1');
    session.getByText('No later receipt yet');
    expect(peer.requests(listReceipts).map(({ query }) => query['lamport_clock'])).not.toContain('0');
  });
});

describe('the download of a receipt', () => {
  const saved: string[] = [];
  beforeEach(() => {
    saved.length = 0;
    Object.assign(URL, { createObjectURL: () => '#receipt', revokeObjectURL: (url: string) => saved.push(url) });
    stops.push(() => {
      history.replaceState(null, '', location.pathname);
      Reflect.deleteProperty(URL, 'createObjectURL');
      Reflect.deleteProperty(URL, 'revokeObjectURL');
    });
  });

  it('saves only this receipt of its session, as a file for `countersign verify`', async () => {
    const { peer, user } = open();
    const download = await region('Download');
    download.getByText(`countersign verify ${idOf('V')}.jsonl --keys keys.json --partial --require integrity`);
    await user.click(download.getByRole('button', { name: 'Download receipt' }));
    await waitFor(() => expect(saved).toEqual(['#receipt']));
    const [request] = peer.requests(exportReceipts);
    expect(request?.query).toEqual({ session_id: 's', from_lamport_clock: '3', limit: '1' });
    expect(request?.headers.get('x-workspace-id')).toBe(workspaceId);
  });

  it('saves nothing when the kernel refuses the export, and shows why', async () => {
    const { peer, user } = open();
    peer.refuses(exportReceipts, 'RECEIPT_STORE_UNAVAILABLE', 'The log is away');
    const download = await region('Download');
    await user.click(download.getByRole('button', { name: 'Download receipt' }));
    expect((await download.findByRole('alert')).textContent).toContain('The log is away');
    expect(saved).toEqual([]);
  });
});
