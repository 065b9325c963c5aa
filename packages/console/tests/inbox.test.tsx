import { approvalCalled } from './_approval.ts';
import { at, stage, userId } from './_dom.tsx';
import { afterEach, describe, expect, it } from '@jest/globals';
import { onlineManager } from '@tanstack/react-query';
import { act, cleanup, screen, waitFor, within } from '@testing-library/react';
import {
  createBlastRadius,
  getSnapshot,
  listInboxApprovals,
  resolveApproval,
} from '@countersign/contracts/control-plane';
import type { PersonRole } from '@countersign/contracts';
import { challengeApproval, getApprovalContext, type SimilarRequests } from '@countersign/contracts/governance-kernel';
import { InboxPage } from '../src/inbox/inbox-page.tsx';
import { followKeys } from '../src/keys/shortcuts.ts';
import { snapshot, type SnapshotFacts } from './_snapshot.ts';

const { intent_hash: hash } = approvalCalled(1);
const waiting = (nth: number, path: string) => ({
  ...approvalCalled(nth),
  args: { path },
  may_decide: true,
  obstacle: null,
});
const [newer, older] = [waiting(1, 'newer.md'), waiting(2, 'older.md')];
const { may_decide: _may, obstacle: _obstacle, ...asKernel } = newer;

type Opened = {
  path?: string;
  data?: object[];
  next?: string;
  counts?: SnapshotFacts['counts'];
  role?: PersonRole;
  isWide?: boolean;
  clockAheadMs?: number;
  similar?: Partial<Record<keyof SimilarRequests, unknown>>;
};

async function atInbox(opened: Opened = {}) {
  const { path = '/inbox', data = [newer, older], next = null, counts = {}, role = 'owner' } = opened;
  const { isWide = true, clockAheadMs = 0 } = opened;
  const here = stage();
  here.peer.clockAheadMs = clockAheadMs;
  const { matchMedia } = window;
  Object.assign(window, { matchMedia: (media: string) => ({ ...matchMedia(media), matches: isWide }) });
  stops.push(() => Object.assign(window, { matchMedia }));
  here.peer.answers(listInboxApprovals, { data, next_cursor: next });
  here.peer.answers(getSnapshot, snapshot({ counts }));
  here.peer.refuses(createBlastRadius, 'NOT_FOUND');
  const none = { approved: 0, denied: 0, undecided: 0, has_more: false, latest: null };
  here.peer.answers(getApprovalContext, { approval_id: newer.approval_id, similar: { ...none, ...opened.similar } });
  here.show(<InboxPage />, { path, role });
  stops.push(followKeys(document));
  return here;
}

const lines = () => within(screen.getByRole('region', { name: 'Calls' })).getAllByRole('link');
const currentLine = () => lines().findIndex((line) => line.getAttribute('aria-current') === 'page');
const shownCall = () => screen.findByRole('article');
/** Waits until the call is shown. */
const shows = (path: string) =>
  waitFor(async () => {
    const { textContent } = await shownCall();
    expect(textContent).toContain(path);
  });

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0).reverse()) stop();
  act(() => onlineManager.setOnline(true));
});

describe('the list of calls', () => {
  it('is beside the newest call, and j, k and the arrow keys choose another one', async () => {
    const { user } = await atInbox();
    await shows('newer.md');
    expect([lines().length, currentLine(), screen.getAllByRole('article').length]).toEqual([2, 0, 1]);
    await user.keyboard('j');
    await shows('older.md');
    expect([currentLine(), document.activeElement]).toEqual([1, lines()[1]]);
    await user.keyboard('j');
    expect(currentLine()).toBe(1);
    await user.keyboard('k');
    await shows('newer.md');
    await user.keyboard('{ArrowDown}');
    await shows('older.md');
    await user.keyboard('{Enter}');
    await waitFor(async () => expect(document.activeElement).toBe(await shownCall()));
  });

  it('is a page of its own on a narrow screen, where a call opens as a page with a way back', async () => {
    const { user } = await atInbox({ isWide: false });
    await screen.findByRole('region', { name: 'Calls' });
    expect(screen.queryByRole('article')).toBeNull();
    await user.keyboard('a');
    expect(screen.queryByRole('dialog')).toBeNull();
    await user.keyboard('jj');
    expect(document.activeElement).toBe(lines()[1]);
    await user.keyboard('{Enter}');
    await shows('older.md');
    expect(screen.queryByRole('region', { name: 'Calls' })).toBeNull();
    expect(document.activeElement).toBe(await shownCall());
    await screen.findByRole('heading', { name: 'Approval', level: 1 });
    await user.click(screen.getByRole('link', { name: 'Inbox' }));
    await screen.findByRole('region', { name: 'Calls' });
  });

  it('keeps the chosen call on the screen after another person has decided it', async () => {
    const { peer, readAgain } = await atInbox();
    await shows('newer.md');
    peer.answersEach(listInboxApprovals, ({ query }) => ({
      data: 'approval_id' in query ? [{ ...newer, state: 'approved', may_decide: false }] : [older],
      next_cursor: null,
    }));
    await act(readAgain);
    await screen.findByRole('article', { name: 'files.write_file, approved' });
    expect([lines().length, currentLine()]).toEqual([1, -1]);
    expect(screen.queryByRole('button', { name: 'Approve' })).toBeNull();
  });
});

describe('the tabs', () => {
  const forOthers = { ...waiting(3, 'others.md'), may_decide: false, obstacle: 'NOT_NAMED' };
  const denied = { ...waiting(4, 'denied.md'), state: 'denied', args: null, may_decide: false };
  const data = [forOthers, newer, denied, older];
  const tabs = () => within(screen.getByRole('navigation', { name: 'Parts of the inbox' }));
  const current = () =>
    tabs()
      .getAllByRole('link', { current: 'page' })
      .map(({ textContent }) => textContent);
  const states = ({ peer }: Awaited<ReturnType<typeof atInbox>>) =>
    peer.requests(listInboxApprovals).map(({ query }) => query['state']);

  it('separate calls that wait for the person, calls that wait for others, and decided calls', async () => {
    const here = await atInbox({ data, counts: { pending_approvals: 3, waiting_for_you: 2 } });
    await shows('newer.md');
    await waitFor(() => expect(current()).toEqual(['Waiting for you 2']));
    expect(lines().length).toBe(2);
    await here.user.click(tabs().getByRole('link', { name: 'Waiting for others 1' }));
    await shows('others.md');
    expect([current(), lines().length]).toEqual([['Waiting for others 1'], 1]);
    expect(new Set(states(here))).toEqual(new Set(['pending']));
    await here.user.click(tabs().getByRole('link', { name: 'Decided' }));
    await screen.findByRole('article', { name: 'files.write_file, denied' });
    expect([current(), lines().length, states(here).at(-1)]).toEqual([['Decided'], 1, undefined]);
    await here.user.selectOptions(screen.getByRole('combobox', { name: 'Result' }), 'Denied');
    await waitFor(() => expect(states(here).at(-1)).toBe('denied'));
    expect(current()).toEqual(['Decided']);
  });

  it.each([
    ['tab=others', 'Waiting for others 0'],
    ['state=expired', 'Decided'],
    ['tab=anything&state=pending', 'Waiting for you 0'],
  ])('are part of the address: %s', async (search, tab) => {
    await atInbox({ path: `/inbox?${search}`, data: [] });
    await screen.findByRole('link', { name: tab });
    await waitFor(() => expect(current()).toEqual([tab]));
  });

  it('keep the open call while another tab contains it', async () => {
    await atInbox({ path: `/inbox/${forOthers.approval_id}`, data });
    await shows('others.md');
    expect([lines().length, currentLine()]).toEqual([2, -1]);
  });

  it.each<[string, Opened, string]>([
    ['nothing waits', {}, 'Nothing is waiting'],
    ['calls wait for others only', { counts: { pending_approvals: 1 } }, 'Nothing waits for you'],
    ['no call waits for others', { path: '/inbox?tab=others' }, 'No call waits for other people'],
    ['no call was decided', { path: '/inbox?tab=decided' }, 'No call was decided yet'],
    ['no call was denied', { path: '/inbox?state=denied' }, 'No decided call is in the state “Denied”'],
  ])('explain when %s', async (_what, opened, title) => {
    await atInbox({ data: [], ...opened });
    await screen.findByRole('heading', { name: title });
  });

  it('lead a member from their empty tab to the calls of others', async () => {
    const { user } = await atInbox({ data: [forOthers], counts: { pending_approvals: 1 }, role: 'member' });
    await screen.findByText(/^Only partners and owners decide calls/);
    await user.click(screen.getByRole('link', { name: 'See calls that wait for others' }));
    await shows('others.md');
  });

  it.each([
    ['is offered while the tab shows the whole list that it prints', [newer, older], 1],
    ['is not offered while the tab leaves out a call that it prints', [newer, forOthers], 0],
  ])('have a command that %s', async (_name, listed, offered) => {
    await atInbox({ data: listed });
    await shows('newer.md');
    expect(screen.queryAllByRole('button', { name: 'Copy as a command' }).length).toBe(offered);
  });

  it('are not called empty while more calls can be read', async () => {
    await atInbox({ data: [forOthers], next: 'cursor_of_the_next_page' });
    await screen.findByText('None of the calls read so far is in this tab.');
    screen.getByRole('button', { name: 'Show more' });
  });
});

describe('a link to one call', () => {
  it('chooses it and shows everything that a vote signs', async () => {
    const { user } = await atInbox({ path: `/inbox/${older.approval_id}` });
    await shows('older.md');
    expect(currentLine()).toBe(1);
    const hashes = async () => within(await shownCall()).queryAllByText(hash).length;
    expect(await hashes()).toBeGreaterThan(0);
    await user.keyboard('k');
    await shows('newer.md');
    expect(await hashes()).toBe(0);
  });

  it('with an id that no approval has shows no call', async () => {
    const { peer } = await atInbox({ path: '/inbox/anything' });
    await screen.findByRole('heading', { name: 'This approval does not exist' });
    expect(peer.requests(listInboxApprovals).filter(({ query }) => 'approval_id' in query)).toEqual([]);
  });
});

describe('a call', () => {
  it.each([
    ['ROLE', [], 'Only partners and owners can decide.'],
    ['OWN_REQUEST', ['Deny'], 'You started this run or made this key, so another partner or owner decides.'],
    ['NOT_NAMED', [], 'The policy names other approvers for this call.'],
    ['ALREADY_APPROVED', [], 'You approved this, and it waits for another person.'],
  ])('offers only votes that this person may cast: %s', async (obstacle, offered, why) => {
    const { user } = await atInbox({
      path: '/inbox?tab=others',
      data: [{ ...newer, may_decide: false, obstacle }, older],
    });
    const call = within(await shownCall());
    expect(call.getByText(why)).toBeTruthy();
    const buttons = call.queryAllByRole('button', { name: /^(Approve|Deny)$/ });
    expect(buttons.map(({ textContent }) => textContent)).toEqual(offered);
    await user.keyboard('a');
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  it('shows how similar calls were decided, and says when there were none', async () => {
    const latest = { approval_id: older.approval_id, decision: 'denied' as const, decided_at: at };
    await atInbox({ similar: { approved: 13, denied: 1, latest } });
    const similar = await within(await shownCall()).findByRole('region', { name: /^Similar calls in 30 days/ });
    await waitFor(() => expect(similar.textContent).toContain('Approved13Denied1Last decisionDenied'));
    const decided = within(similar).getByRole('link', { name: 'Denied' });
    expect(decided.getAttribute('href')).toContain(`/inbox/${older.approval_id}`);
    cleanup();
    await atInbox();
    const none = await within(await shownCall()).findByRole('region', { name: /^Similar calls in 30 days/ });
    await waitFor(() => expect(none.textContent).toContain('None.'));
  });

  it('states that an approval expired because its policy was replaced', async () => {
    const ended = { state: 'expired', args: null, may_decide: false, rejection_reason: 'The policy was replaced' };
    await atInbox({ path: '/inbox?state=expired', data: [{ ...newer, ...ended }, older] });
    expect((await shownCall()).textContent).toContain('Expired early: The policy was replaced');
  });

  it.each([
    ['offers votes before its expiry by the server, although the clock of the browser is ahead', -600_000, -300_000, 2],
    ['offers no vote after its expiry by the server, although the clock of the browser is behind', 600_000, 300_000, 0],
  ])('%s', async (_name, clockAheadMs, expiresInMs, offered) => {
    const expires_at = new Date(Date.now() + expiresInMs).toISOString();
    const { user } = await atInbox({ data: [{ ...newer, expires_at }], clockAheadMs });
    const call = within(await shownCall());
    expect(call.queryAllByRole('button', { name: /^(Approve|Deny)$/ }).length).toBe(offered);
    expect(call.queryAllByText(/^It expired at/).length).toBe(offered === 0 ? 1 : 0);
    await user.keyboard('a');
    expect(screen.queryAllByRole('dialog').length).toBe(offered === 0 ? 0 : 1);
  });

  it('offers no vote once it has expired while it was open', async () => {
    const { user } = await atInbox({ data: [{ ...newer, expires_at: at }] });
    const call = within(await shownCall());
    expect(call.getByText(/^It expired at/)).toBeTruthy();
    expect(call.queryByRole('button', { name: /^(Approve|Deny)$/ })).toBeNull();
    await user.keyboard('ad');
    expect(screen.queryByRole('dialog')).toBeNull();
  });
});

describe('a vote', () => {
  it('applies to the shown call, and shows its arguments again', async () => {
    const { user } = await atInbox();
    await shows('newer.md');
    await user.keyboard('j');
    await shows('older.md');
    await user.keyboard('a');
    const dialog = within(await screen.findByRole('dialog'));
    expect(dialog.getByRole('region', { name: 'Arguments of the call' }).textContent).toContain('older.md');
  });

  it('that cannot be sent fails at once, and is not cast later', async () => {
    const { peer, user, readAgain } = await atInbox();
    await shownCall();
    await user.keyboard('a');
    const dialog = within(await screen.findByRole('dialog'));
    act(() => onlineManager.setOnline(false));
    peer.isAwayFor(challengeApproval);
    await user.click(dialog.getByRole('button', { name: 'Approve' }));
    await dialog.findByRole('heading', { name: 'The gateway does not answer' });
    await user.keyboard('{Escape}');
    peer.refuses(challengeApproval, 'PASSKEY_REQUIRED');
    peer.answers(resolveApproval, { ...asKernel, state: 'approved', args: null, approved_by: [userId] });
    await act(async () => {
      onlineManager.setOnline(true);
      await readAgain();
    });
    expect([peer.requests(challengeApproval).length, peer.requests(resolveApproval).length]).toEqual([1, 0]);
  });

  it('names the shown call by its hash, and its result is shown', async () => {
    const { peer, user } = await atInbox();
    peer.refuses(challengeApproval, 'PASSKEY_REQUIRED');
    peer.answers(resolveApproval, { ...asKernel, state: 'denied', args: null, rejection_reason: 'no' });
    await shownCall();
    await user.keyboard('r');
    await user.type(await screen.findByLabelText(/^Reason/), ' no ');
    await user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Deny' }));
    await screen.findByText('files.write_file: Denied');
    expect(peer.requests(resolveApproval).map(({ body, headers }) => [body, headers.get('if-match')])).toEqual([
      [{ decision: 'deny', reason: 'no' }, `"${hash}"`],
    ]);
  });
});
