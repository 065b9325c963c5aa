import { at, stage, workspaceId } from './_dom.tsx';
import { expect, it } from '@jest/globals';
import { screen } from '@testing-library/react';
import { getSnapshot } from '@countersign/contracts/control-plane';
import { WhatWaits } from '../src/overview/what-waits.tsx';

const hash = `sha256:${'0'.repeat(64)}`;
const snapshot = {
  ...{ v: 1, workspace_id: workspaceId, seq: 1, kernel: 'ok', counts: { unconfirmed_commands: 0 } },
  heads: { gateway_audit_seq: 1, audit_seq: 1 },
};
const boundary = {
  ...{ status: 'ready', last_proven_fail_closed: at, fences_hash: hash, last_receipt_id: null },
  policy: { state: 'fresh', owner: 'workspace', policy_hash: hash, policy_epoch: 1 },
};

const none = 'No call waits for an approval.';
it.each<[number, number, string[]]>([
  [0, 0, [none]],
  [3, 0, ['3 calls wait for other people']],
  [3, 1, ['1 call waits for you', '2 calls wait for other people']],
  [2, 2, ['2 calls wait for you']],
  [1_000, 200, ['200 calls or more wait for you', '800 calls or more wait for other people']],
])('of %i calls that wait, %i wait for this person', async (pending_approvals, waiting_for_you, lines) => {
  const { peer, show } = stage();
  const counts = { pending_approvals, waiting_for_you, open_dispatches: 0, fences: 0 };
  peer.answers(getSnapshot, { ...snapshot, boundary: { ...boundary, counts } });
  show(<WhatWaits />);
  await screen.findByText(lines[0] ?? '');
  const shown = [...screen.getByRole('region', { name: 'What waits' }).querySelectorAll('p')];
  expect(shown.map(({ textContent }) => textContent)).toEqual(lines);
});
