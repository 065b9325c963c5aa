import { at, stage } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen } from '@testing-library/react';
import {
  getPublicApproval,
  getPublicReceipt,
  getPublicReplay,
  getSigningKey,
} from '@countersign/contracts/control-plane';

const handle = `hdl_${'A'.repeat(22)}`;
const hashOf = (letter: string) => `sha256:${letter.repeat(64)}`;
const approval = {
  ...{ approval_id: 'apr_01ARZ3NDEKTSV4RRFFQ69G5FAV', state: 'approved', quorum: 3, approved: 2, method: 'votes' },
  ...{ requested_at: at, updated_at: at, published_at: at, ceremony_hash: hashOf('a') },
};
const none = { ALLOW: 0, DENY: 0, ESCALATE: 0, UNREPLAYABLE: 0 };
const replay = {
  ...{ type: 'countersign.replay.v1', policy: 'draft', policy_hash: hashOf('b') as string | null, tree_size: 90 },
  ...{ decisions: 7, is_narrowed: false, is_whole: true, unverifiable: 5, pairs: [], replay_hash: hashOf('c') },
  matrix: { ALLOW: { ...none, DENY: 6 }, DENY: none, ESCALATE: none },
  first_difference: { receipt_hash: hashOf('d'), before: 'ALLOW', after: 'DENY', place: 3 } as object | null,
  ...{ replay_id: `rpl_${'A'.repeat(22)}`, made_at: at },
};
const receipt = {
  ...{ receipt_id: 'rcp_01ARZ3NDEKTSV4RRFFQ69G5FAV', kind: 'decision', status: 'sealed', verdict: 'DENY' },
  ...{ reason_code: 'POLICY_DENIED', issued_at: at, receipt_hash: hashOf('e'), prev_hash: null, lamport_clock: 4 },
  ...{ policy_hash: hashOf('f'), policy_epoch: 8, key_id: 'key-1' },
  log: { index: 11, tree_size: 12, hashes: [], note: 'note' },
};

/** Opens the proof page of a handle. Only the routes in `answers` find something. */
function atProof(answers: { receipt?: object; approval?: object; replay?: object }) {
  const here = stage();
  for (const [route, body] of [
    [getPublicReceipt, answers.receipt],
    [getPublicApproval, answers.approval],
    [getPublicReplay, answers.replay],
  ] as const)
    if (body === undefined) here.peer.refuses(route, 'NOT_FOUND');
    else here.peer.answers(route, body);
  here.peer.refuses(getSigningKey, 'CONTROL_PLANE_UNAVAILABLE');
  here.openConsole(`/p/${handle}`);
  return here;
}

const published = async (what: string) =>
  (await screen.findByRole('region', { name: `What is published about this ${what}` })).textContent;

describe('the page of public proof', () => {
  it('shows that an unknown handle has no public evidence', async () => {
    atProof({});
    await screen.findByText('Nothing is public here');
  });

  it('shows a fault as a fault, not as missing evidence', async () => {
    const { peer } = atProof({});
    peer.refuses(getPublicReceipt, 'CONTROL_PLANE_UNAVAILABLE');
    await screen.findByRole('heading', { name: 'The control plane does not answer' });
    expect(screen.queryByText('Nothing is public here')).toBeNull();
  });

  it('shows an approval with its votes, and a break-glass approval as the act of one person', async () => {
    const { peer, readAgain } = atProof({ approval });
    expect(await published('approval')).toMatch(/approved.*2 of 3Requested/);
    peer.answers(getPublicApproval, { ...approval, method: 'break_glass' });
    await readAgain();
    expect(await published('approval')).toMatch(/2 of 3, alone by emergency access/);
    expect(peer.requests(getPublicApproval)[0]?.params).toEqual({ approvalId: handle });
    expect(peer.requests(getPublicReplay)).toEqual([]);
  });

  it('shows a replay with its extent, its counts and its first difference', async () => {
    const { peer, readAgain } = atProof({ replay });
    const first = await published('replay');
    expect(first).toMatch(/7, in a log of 90 receipts: all decisions of the workspace/);
    expect(first).toMatch(/Policya draft/);
    expect(first).toMatch(/ALLOW is now DENY6Did not verify5/);
    expect(first).toMatch(/is now DENY: decision 4/);
    expect(first).toContain('policy_hash');
    const narrowed = { is_whole: false, is_narrowed: true, first_difference: null, policy_hash: null };
    peer.answers(getPublicReplay, { ...replay, ...narrowed, policy: 'recorded' });
    await readAgain();
    const second = await published('replay');
    expect(second).toMatch(/the newest decisions of one session/);
    expect(second).toMatch(/policies in force at that time/);
    expect(second).toMatch(/First differencenone/);
    expect(second).not.toContain('policy_hash');
    expect(peer.requests(getPublicReplay)[0]?.params).toEqual({ replay_id: handle });
  });

  it('shows a receipt with its places in its session and in the log, and does not verify it without keys', async () => {
    atProof({ receipt });
    const shown = await published('receipt');
    expect(shown).toMatch(/POLICY_DENIED.*decision sealed/);
    expect(shown).toMatch(/4 in its session, 11 in the log.*version 8/);
    expect(shown).toMatch(/prev_hashnone/);
    await screen.findByRole('heading', { name: 'The control plane does not answer' });
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Verify here' }).disabled).toBe(true);
    expect(screen.queryByText(/^Verified in this browser/)).toBeNull();
  });
});
