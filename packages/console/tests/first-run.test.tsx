import { at, stage, workspaceId } from './_dom.tsx';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { screen, within } from '@testing-library/react';
import { createSessionTicket, getBootstrap, getSnapshot } from '@countersign/contracts/control-plane';
import { createTask, listInvitesToMe, runTask } from '@countersign/contracts/gateway';
import { getDecisionStats, listBudgets, listReceipts } from '@countersign/contracts/governance-kernel';
import { OverviewPage } from '../src/overview/overview-page.tsx';
import { snapshot } from './_snapshot.ts';

const hash = `sha256:${'0'.repeat(64)}`;
const steps = (done: readonly string[]) =>
  ['org', 'budget', 'passkey', 'first_receipt', 'colleague', 'policy'].map((step) => ({
    step,
    done: done.includes(step),
  }));
const stats = { bucket: '30m', buckets: [at], series: [], others: null, total: 0, tree_size: 0, complete_to: null };

function openOverview(done: readonly string[], role: 'owner' | 'member' = 'owner') {
  const here = stage();
  here.peer.answers(getSnapshot, snapshot());
  here.peer.answers(getBootstrap, { workspace_id: workspaceId, org: null, steps: steps(done) });
  here.peer.answers(listInvitesToMe, { data: [] });
  here.peer.refuses(createSessionTicket, 'RATE_LIMITED');
  here.peer.answers(listReceipts, { data: [], next_cursor: null });
  here.peer.answers(getDecisionStats, stats);
  here.peer.answers(listBudgets, { data: [], next_cursor: null });
  here.show(<OverviewPage />, { role });
  return here;
}

beforeEach(() => localStorage.clear());

describe('a new workspace', () => {
  it('shows completed steps, the next step, and a first call to copy', async () => {
    openOverview(['org', 'budget']);
    const list = within(await screen.findByRole('region', { name: 'Set up' }));
    await list.findByText('2 of 6 done');
    const next = list.getAllByRole('listitem').find((item) => item.getAttribute('aria-current') === 'step');
    expect(next?.textContent).toContain('Add a passkey');
    expect(screen.getByRole('heading', { name: 'Send a first call' })).toBeTruthy();
    expect(screen.getByText('Listening for the first call.')).toBeTruthy();
    expect(screen.queryByRole('region', { name: 'Numbers' })).toBeNull();
  });

  it('follows the progress, and shows numbers and decisions when the first decision arrives', async () => {
    const { peer, readAgain } = openOverview(['org', 'budget']);
    await screen.findByText('2 of 6 done');
    peer.answers(getBootstrap, { workspace_id: workspaceId, org: null, steps: steps(['org', 'budget', 'passkey']) });
    peer.answers(listReceipts, { data: [receipt], next_cursor: null });
    await readAgain();
    await screen.findByText('3 of 6 done');
    await screen.findByRole('region', { name: 'Numbers' });
    const listed = within(screen.getByRole('region', { name: 'Set up' })).getAllByRole('listitem');
    expect(listed.map((item) => item.textContent)).not.toContainEqual(expect.stringContaining('(done)'));
    expect(screen.getByRole('link', { name: 'web.search' })).toBeTruthy();
    expect(screen.queryByRole('heading', { name: 'Send a first call' })).toBeNull();
  });

  it('starts a sample run with one click', async () => {
    const { peer, user } = openOverview(['org', 'budget', 'passkey']);
    peer.refuses(createTask, 'RATE_LIMITED', 'Too many tasks');
    await user.click(await screen.findByRole('button', { name: 'Start sample run' }));
    await screen.findByText('Too many tasks');
    expect(peer.requests(createTask)[0]?.body).toMatchObject({ title: 'A letter' });
    expect(peer.requests(runTask)).toEqual([]);
  });

  it('hides the setup from a member, who sees the first call', async () => {
    const { peer } = openOverview([], 'member');
    await screen.findByRole('heading', { name: 'Send a first call' });
    expect(screen.queryByRole('region', { name: 'Set up' })).toBeNull();
    expect(peer.requests(getBootstrap)).toEqual([]);
  });
});

describe('the hints', () => {
  it('are at most four, and do not return after they are dismissed', async () => {
    const { user } = openOverview([]);
    const hints = within(await screen.findByRole('region', { name: 'Hints' }));
    for (const place of ['2 of 4', '3 of 4', '4 of 4']) {
      await user.click(hints.getByRole('button', { name: 'Next' }));
      expect(hints.getByText(place)).toBeTruthy();
    }
    expect(hints.queryByRole('button', { name: 'Next' })).toBeNull();
    await user.click(hints.getByRole('button', { name: 'Don’t show hints' }));
    expect(screen.queryByRole('region', { name: 'Hints' })).toBeNull();
    expect(localStorage.getItem('countersign-hints')).toBe('off');
  });
});

const receipt = {
  payload: {
    ...{ type: 'countersign.receipt.v1', receipt_id: 'rcp_01ARZ3NDEKTSV4RRFFQ69G5FAV', kind: 'decision' },
    ...{ tenant_id: workspaceId, principal_id: 'clerk', session_id: 's', record_hash: hash, args_hash: hash },
    ...{ decision_id: 'dec_01ARZ3NDEKTSV4RRFFQ69G5FAV', verdict: 'ALLOW', reason_code: 'ALLOWED' },
    ...{ action: 'tool.call', tool: 'web.search', resource: null, effect_level: 'E1', shadow: false },
    ...{ policy_hash: hash, policy_epoch: 1, lamport_clock: 1, prev_hash: null, issued_at: at },
  },
  signature: { alg: 'Ed25519', key_id: 'key_1', value: 'A'.repeat(86) },
  ...{ receipt_hash: hash, log_index: 0 },
};
