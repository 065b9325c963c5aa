import { at, stage, userId, workspaceId } from './_dom.tsx';
import { afterEach, describe, expect, it } from '@jest/globals';
import { useLocation } from '@tanstack/react-router';
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import { getDecisionStats, listReceipts } from '@countersign/contracts/governance-kernel';
import { followKeys } from '../src/keys/shortcuts.ts';
import { ActivityPage } from '../src/activity/activity-page.tsx';

const key = `countersign-views-${userId}-${workspaceId}`;
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  localStorage.clear();
});

function Place() {
  const place = useLocation({ select: ({ searchStr }) => searchStr });
  return <output>{place}</output>;
}

function open(path: string) {
  const here = stage();
  here.peer.answers(listReceipts, { data: [], next_cursor: null });
  here.peer.refuses(getDecisionStats, 'GOVERNANCE_UNAVAILABLE');
  here.show(
    <>
      <ActivityPage />
      <Place />
    </>,
    { path },
  );
  return here;
}

const isAt = (search: string) => waitFor(() => expect(document.querySelector('output')?.textContent).toBe(search));

describe('the filters of the activity page', () => {
  const chip = (name: string) => screen.findByRole('button', { name });

  it('are chips, and a second button of a chip removes its filter from the address and the request', async () => {
    const { user, peer } = open('/activity?verdict=DENY&tool=mail.send');
    const chips = within(await screen.findByRole('list', { name: 'Filters' }));
    expect(chips.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
      ...['Time any', 'Decision Denied', 'Agent any', 'Tool mail.send', 'Reason any', 'Kind any'],
    ]);
    await user.click(chips.getByRole('button', { name: 'Remove Decision: Denied' }));
    await isAt('?tool=mail.send');
    await waitFor(() => expect(peer.requests(listReceipts).at(-1)?.query).not.toHaveProperty('verdict'));
    expect(peer.requests(listReceipts).at(-1)?.query).toMatchObject({ tool: 'mail.send' });
  });

  it('open a panel, whose chosen value goes to the address and the request', async () => {
    const { user, peer } = open('/activity');
    await user.click(await chip('Decision any'));
    const panel = within(screen.getByRole('dialog', { name: 'Decision' }));
    expect(document.activeElement).toBe(panel.getByRole('button', { name: 'any' }));
    await user.keyboard('{ArrowDown}{ArrowDown}{Enter}');
    await isAt('?verdict=DENY');
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(document.activeElement).toBe(await chip('Decision Denied'));
    await waitFor(() => expect(peer.requests(listReceipts).at(-1)?.query).toMatchObject({ verdict: 'DENY' }));
  });

  it('find a value of a long list by its words, and close on Escape without a change', async () => {
    const { user } = open('/activity');
    await user.click(await chip('Reason any'));
    await user.keyboard('over budget');
    const panel = within(screen.getByRole('dialog', { name: 'Reason' }));
    await waitFor(() => expect(panel.getAllByRole('button').length).toBe(2));
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(document.activeElement).toBe(await chip('Reason any'));
    await isAt('');
    await user.click(await chip('Reason any'));
    await user.click(screen.getByRole('list', { name: 'Filters' }));
    await user.click(screen.getByRole('heading', { name: 'Activity' }));
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  it('take a typed tool, which the key / opens, and a period', async () => {
    const { user } = open('/activity');
    stops.push(followKeys(document));
    await chip('Tool any');
    await user.keyboard('/');
    await user.keyboard('mail.send{Enter}');
    await isAt('?tool=mail.send');
    await user.click(await chip('Time any'));
    await user.type(screen.getByLabelText('Before'), '2026-11-27T12:00');
    await user.click(screen.getByRole('button', { name: 'Apply filter' }));
    const to = encodeURIComponent(new Date('2026-11-27T12:00').toISOString());
    await isAt(`?tool=mail.send&to=${to}`);
  });

  it('show hidden characters of a hostile name as code points, and a readable time', async () => {
    open(`/activity?agent=${encodeURIComponent('clerk\u202e')}&from=${at}`);
    await screen.findByRole('button', { name: 'Remove Agent: clerk⟨U+202E⟩' });
    screen.getByRole('button', { name: /^Remove Time: from 27 Nov/ });
  });
});

describe('a saved view', () => {
  it('is stored in this browser for one person and workspace, and restores its filters', async () => {
    const { user } = open('/activity?verdict=DENY');
    await user.click(await screen.findByRole('button', { name: 'Save view' }));
    await user.type(screen.getByLabelText('Name of the view'), 'Denials{Enter}');
    const link = await screen.findByRole('link', { name: 'Denials' });
    expect(link.getAttribute('href')).toBe('/console/activity?verdict=DENY');
    expect(Object.keys(localStorage)).toContain(key);
    cleanup();
    const later = open('/activity');
    await later.user.click(await screen.findByRole('link', { name: 'Denials' }));
    await isAt('?verdict=DENY');
    await later.user.click(screen.getByRole('button', { name: 'Delete view Denials' }));
    expect(screen.queryByRole('link', { name: 'Denials' })).toBeNull();
    expect(localStorage.getItem(key)).toBe('[]');
  });

  it('is not offered without filters, and stored data that is not a view is ignored', async () => {
    localStorage.setItem(key, '[{"title":1}]');
    open('/activity');
    await screen.findByRole('link', { name: 'Everything' });
    expect(screen.queryByRole('button', { name: 'Save view' })).toBeNull();
  });
});
