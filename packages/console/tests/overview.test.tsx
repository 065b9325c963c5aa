import { stage } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { act, screen, waitFor, within } from '@testing-library/react';
import { getSnapshot, listInboxApprovals } from '@countersign/contracts/control-plane';
import { Attention, AttentionSummary } from '../src/overview/attention.tsx';
import { needsOf } from '../src/overview/needs.ts';
import { Bell } from '../src/shell/bell.tsx';
import { StatusPill } from '../src/shell/status-pill.tsx';
import { approvalCalled } from './_approval.ts';
import { snapshot, type SnapshotFacts } from './_snapshot.ts';

describe('what needs attention', () => {
  it.each<[string, SnapshotFacts, string[]]>([
    ['no approval', {}, []],
    ['approvals of others', { counts: { pending_approvals: 3 } }, ['3 calls wait for other people']],
    [
      'approvals of both',
      { counts: { pending_approvals: 3, waiting_for_you: 1 } },
      ['1 call waits for you', '2 calls wait for other people'],
    ],
    ['approvals of the person', { counts: { pending_approvals: 2, waiting_for_you: 2 } }, ['2 calls wait for you']],
    [
      'more approvals than are counted',
      { counts: { pending_approvals: 1_000, waiting_for_you: 200 } },
      ['200 calls or more wait for you', '800 calls or more wait for other people'],
    ],
    ['one unconfirmed stop', { unconfirmed: 1 }, ['1 stop is not confirmed by the kernel yet']],
    ['a freeze', { status: 'closed' }, ['Every call is denied by a freeze']],
    [
      'a policy that is late, first',
      { status: 'closed', policy: 'stale', unconfirmed: 2, counts: { pending_approvals: 1, waiting_for_you: 1 } },
      [
        'The policy was not confirmed in time, so every call is denied',
        '2 stops are not confirmed by the kernel yet',
        '1 call waits for you',
      ],
    ],
    [
      'only what is known while the kernel is unavailable',
      { isAway: true, unconfirmed: 1 },
      ['1 stop is not confirmed by the kernel yet'],
    ],
  ])('shows %s', (_what, facts, lines) => {
    expect(needsOf(snapshot(facts)).map(({ text }) => text)).toEqual(lines);
  });

  it('links to the page of each item, and counts only the items for this person', async () => {
    const { peer, show } = stage();
    peer.answers(getSnapshot, snapshot({ counts: { pending_approvals: 4, waiting_for_you: 2 } }));
    const waiting = [2, 1].map((nth) => ({ ...approvalCalled(nth), may_decide: nth === 1, obstacle: null }));
    peer.answers(listInboxApprovals, { data: waiting, next_cursor: null });
    show(
      <>
        <AttentionSummary />
        <Attention />
      </>,
    );
    await screen.findByText('2 things need you.');
    const list = within(screen.getByRole('region', { name: 'Needs attention' }));
    const call = await list.findByText('crawler');
    expect(call.closest('li')?.textContent).toMatch(/^crawler wants to call files\.write_file.* leftReview$/);
    const mine = approvalCalled(1).approval_id;
    expect(list.getByRole('link', { name: 'Review' }).getAttribute('href')).toBe(`/console/inbox/${mine}`);
    expect(list.getByText('1 more call').closest('li')?.querySelector('a')?.getAttribute('href')).toBe(
      '/console/inbox',
    );
    expect(list.getByText('2 calls wait for other people')).toBeTruthy();
  });

  it('shows the sentence of the policy, with the values of the call marked', async () => {
    const { peer, show } = stage();
    peer.answers(getSnapshot, snapshot({ counts: { pending_approvals: 1, waiting_for_you: 1 } }));
    const spoken = { ...approvalCalled(1), says: 'write {path}', args: { path: 'a\u202eb' } };
    peer.answers(listInboxApprovals, { data: [{ ...spoken, may_decide: true, obstacle: null }], next_cursor: null });
    show(<Attention />);
    const value = await screen.findByText('a⟨U+202E⟩b');
    expect(value.closest('strong')).not.toBeNull();
    expect(value.closest('li')?.textContent).toMatch(/^crawler wants to write a⟨U\+202E⟩b/);
  });

  it('links to the inbox when the calls cannot be read', async () => {
    const { peer, show } = stage();
    peer.answers(getSnapshot, snapshot({ counts: { pending_approvals: 2, waiting_for_you: 2 } }));
    peer.isAwayFor(listInboxApprovals);
    show(<Attention />);
    await screen.findByText('2 calls wait for you');
    expect(screen.getByRole('link', { name: 'Review' }).getAttribute('href')).toBe('/console/inbox');
  });

  it.each<[string, SnapshotFacts, string]>([
    ['all is clear', {}, 'All clear. Nothing needs you.'],
    ['the kernel is unavailable', { isAway: true }, 'Waiting for an answer. This list may be incomplete.'],
  ])('reports that %s', async (_what, facts, sentence) => {
    const { peer, show } = stage();
    peer.answers(getSnapshot, snapshot(facts));
    show(<AttentionSummary />);
    await screen.findByText(sentence);
  });
});

describe('the bell', () => {
  it('counts what needs the person, and lists the items of the overview', async () => {
    const { peer, show, user } = stage();
    peer.answers(getSnapshot, snapshot({ unconfirmed: 1, counts: { pending_approvals: 4, waiting_for_you: 1 } }));
    const mine = { ...approvalCalled(1), may_decide: true, obstacle: null };
    peer.answers(listInboxApprovals, { data: [mine], next_cursor: null });
    show(<Bell />);
    const bell = await screen.findByRole('button', { name: 'Needs attention: 2' });
    await user.click(bell);
    const panel = within(screen.getByRole('dialog', { name: 'Needs attention' }));
    panel.getByText('2 things need you.');
    const links = async () => (await panel.findAllByRole('link')).map((link) => link.getAttribute('href'));
    await panel.findByText('crawler');
    expect(await links()).toEqual([
      '/console/incidents',
      `/console/inbox/${mine.approval_id}`,
      '/console/inbox?tab=others',
    ]);
    await user.click(panel.getByRole('link', { name: 'Review' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });

  it('counts nothing while the snapshot cannot be read', async () => {
    const { peer, show, readAgain } = stage();
    peer.answers(getSnapshot, snapshot({ unconfirmed: 1 }));
    show(<Bell />);
    await screen.findByRole('button', { name: 'Needs attention: 1' });
    peer.isAwayFor(getSnapshot);
    await act(readAgain);
    await screen.findByRole('button', { name: 'Needs attention' });
  });
});

describe('the status pill', () => {
  it.each<[string, SnapshotFacts, string]>([
    ['calls are decided', {}, 'Enforcing'],
    ['something is stopped', { counts: { fences: 2 } }, 'Enforcing2 stops'],
    ['a stop is not confirmed', { unconfirmed: 1 }, '1 stop not confirmed'],
    ['everything is frozen', { status: 'closed', counts: { fences: 1 } }, 'Frozen1 stop'],
    ['no policy is in force', { status: 'closed', policy: 'missing' }, 'Denying all calls'],
    ['the kernel is unavailable', { isAway: true }, 'No contact'],
  ])('shows that %s', async (_what, facts, text) => {
    const { peer, show } = stage();
    peer.answers(getSnapshot, snapshot(facts));
    show(<StatusPill />);
    await screen.findByText((content) => content.startsWith(text.slice(0, 6)));
    expect(screen.getByRole('status', { name: 'Enforcement' }).textContent).toBe(text);
  });
});
