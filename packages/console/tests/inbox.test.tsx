import { approvalCalled } from './_approval.ts';
import { stage, userId } from './_dom.tsx';
import { afterEach, describe, expect, it } from '@jest/globals';
import { onlineManager } from '@tanstack/react-query';
import { act, screen, within } from '@testing-library/react';
import { createBlastRadius, listInboxApprovals, resolveApproval } from '@countersign/contracts/control-plane';
import { challengeApproval } from '@countersign/contracts/governance-kernel';
import { InboxPage } from '../src/inbox/inbox-page.tsx';
import { followKeys } from '../src/keys/shortcuts.ts';

const { intent_hash: hash } = approvalCalled(1);
const waiting = (nth: number, path: string) => ({
  ...approvalCalled(nth),
  args: { path },
  may_decide: true,
  obstacle: null,
});
const [newer, older] = [waiting(1, 'newer.md'), waiting(2, 'older.md')];
const { may_decide: _may, obstacle: _obstacle, ...asKernel } = newer;

async function atInbox(path = '/inbox', data: object[] = [newer, older]) {
  const here = stage();
  here.peer.answers(listInboxApprovals, { data, next_cursor: null });
  here.peer.refuses(createBlastRadius, 'NOT_FOUND');
  here.show(<InboxPage />, { path });
  stops.push(followKeys(document));
  const [first, second] = await screen.findAllByRole('article');
  if (first === undefined || second === undefined) throw new Error('Two calls wait');
  return { ...here, first, second };
}

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  act(() => onlineManager.setOnline(true));
});

describe('a link to one call', () => {
  it('chooses its card and shows all that is signed', async () => {
    const { first, second } = await atInbox(`/inbox/${older.approval_id}`);
    expect([first.dataset['chosen'], second.dataset['chosen']]).toEqual([undefined, 'true']);
    const hashesOn = (card: HTMLElement) => within(card).queryAllByText(hash).length;
    expect([hashesOn(first), hashesOn(second) > 0]).toEqual([0, true]);
  });
});

describe('a card', () => {
  it.each([
    ['ROLE', [], 'Only partners and owners can decide.'],
    ['OWN_REQUEST', ['Deny'], 'You started this run or made this key, so another partner or owner decides.'],
    ['NOT_NAMED', [], 'The policy names other approvers for this call.'],
    ['ALREADY_APPROVED', [], 'You approved this, and it waits for another person.'],
  ])('offers no vote that this person may not give: %s', async (obstacle, offered, why) => {
    const { first, user } = await atInbox('/inbox', [{ ...newer, may_decide: false, obstacle }, older]);
    expect(within(first).getByText(why)).toBeTruthy();
    const buttons = within(first).queryAllByRole('button', { name: /^(Approve|Deny)$/ });
    expect(buttons.map(({ textContent }) => textContent)).toEqual(offered);
    await user.keyboard('ja');
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  it('states that an approval expired with its policy', async () => {
    const ended = { state: 'expired', args: null, may_decide: false, rejection_reason: 'The policy was replaced' };
    const { first } = await atInbox('/inbox?state=expired', [{ ...newer, ...ended }, older]);
    expect(first.textContent).toContain('Expired early: The policy was replaced');
  });
});

describe('a vote', () => {
  it('is about the call that has the focus, whatever was chosen before, and shows it once more', async () => {
    const { user, first, second } = await atInbox();
    await user.keyboard('j');
    expect(first.dataset['chosen']).toBe('true');
    act(() => within(second).getByRole('button', { name: 'Deny' }).focus());
    await user.keyboard('a');
    const dialog = within(await screen.findByRole('dialog'));
    expect(dialog.getByRole('region', { name: 'Arguments of the call' }).textContent).toContain('older.md');
    expect([first.dataset['chosen'], second.dataset['chosen']]).toEqual([undefined, 'true']);
  });

  it('that cannot be sent fails at once, and is not cast later', async () => {
    const { peer, user, readAgain } = await atInbox();
    await user.keyboard('ja');
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
    expect([peer.asked(challengeApproval).length, peer.asked(resolveApproval).length]).toEqual([1, 0]);
  });

  it('names the call that was shown by its hash, and its answer is shown', async () => {
    const { peer, user } = await atInbox();
    peer.refuses(challengeApproval, 'PASSKEY_REQUIRED');
    peer.answers(resolveApproval, { ...asKernel, state: 'denied', args: null, rejection_reason: 'no' });
    await user.keyboard('jr');
    await user.type(await screen.findByLabelText(/^Reason/), ' no ');
    await user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Deny' }));
    await screen.findByText('files.write_file: denied');
    expect(peer.asked(resolveApproval).map(({ body, headers }) => [body, headers.get('if-match')])).toEqual([
      [{ decision: 'deny', reason: 'no' }, `"${hash}"`],
    ]);
  });
});
