import { stage } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen, within } from '@testing-library/react';
import { getSnapshot } from '@countersign/contracts/control-plane';
import { Attention, AttentionSummary } from '../src/overview/attention.tsx';
import { needsOf } from '../src/overview/needs.ts';
import { StatusPill } from '../src/shell/status-pill.tsx';
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
    ['one stop on its way', { unconfirmed: 1 }, ['1 stop is not confirmed by the kernel yet']],
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
      'only what is known while the kernel is away',
      { isAway: true, unconfirmed: 1 },
      ['1 stop is not confirmed by the kernel yet'],
    ],
  ])('shows %s', (_what, facts, lines) => {
    expect(needsOf(snapshot(facts)).map(({ text }) => text)).toEqual(lines);
  });

  it('leads to the page where it is done, and counts what the person must do', async () => {
    const { peer, show } = stage();
    peer.answers(getSnapshot, snapshot({ counts: { pending_approvals: 3, waiting_for_you: 1 } }));
    show(
      <>
        <AttentionSummary />
        <Attention />
      </>,
    );
    await screen.findByText('1 thing needs you.');
    const list = within(screen.getByRole('region', { name: 'Needs attention' }));
    expect(list.getByRole('link', { name: 'Review' }).getAttribute('href')).toBe('/console/inbox');
  });

  it.each<[string, SnapshotFacts, string]>([
    ['all is clear', {}, 'All clear. Nothing needs you.'],
    ['the kernel is away', { isAway: true }, 'Waiting for an answer. This list may be incomplete.'],
  ])('says that %s', async (_what, facts, sentence) => {
    const { peer, show } = stage();
    peer.answers(getSnapshot, snapshot(facts));
    show(<AttentionSummary />);
    await screen.findByText(sentence);
  });
});

describe('the status pill', () => {
  it.each<[string, SnapshotFacts, string]>([
    ['calls are decided', {}, 'Enforcing'],
    ['something is stopped', { counts: { fences: 2 } }, 'Enforcing2 stops'],
    ['a stop is not confirmed', { unconfirmed: 1 }, '1 stop not confirmed'],
    ['everything is frozen', { status: 'closed', counts: { fences: 1 } }, 'Frozen1 stop'],
    ['no policy is in force', { status: 'closed', policy: 'missing' }, 'Denying all calls'],
    ['the kernel is away', { isAway: true }, 'No contact'],
  ])('says when %s', async (_what, facts, text) => {
    const { peer, show } = stage();
    peer.answers(getSnapshot, snapshot(facts));
    show(<StatusPill />);
    await screen.findByText((content) => content.startsWith(text.slice(0, 6)));
    expect(screen.getByRole('status', { name: 'Enforcement' }).textContent).toBe(text);
  });
});
