import { stage } from './_dom.tsx';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { screen, waitFor } from '@testing-library/react';
import { createSessionTicket, getSnapshot } from '@countersign/contracts/control-plane';
import { ArgumentFields } from '../src/inbox/argument-fields.tsx';
import { NotificationOffer } from '../src/inbox/notification-offer.tsx';
import { LivePages } from '../src/live/live-pages.tsx';
import { Page } from '../src/parts/page.tsx';
import { snapshot } from './_snapshot.ts';

/** Replaces the notifications of the browser. Counts the permission requests and records what is shown. */
class PlayedNotification extends EventTarget {
  static permission: NotificationPermission = 'default';
  static requests = 0;
  static shown: string[] = [];

  static requestPermission(): Promise<NotificationPermission> {
    this.requests += 1;
    return Promise.resolve('granted');
  }

  constructor(title: string) {
    super();
    PlayedNotification.shown.push(title);
  }

  close(): void {}
}

beforeEach(() => {
  localStorage.clear();
  Object.assign(PlayedNotification, { permission: 'default', requests: 0, shown: [] });
  Object.assign(globalThis, { Notification: PlayedNotification });
});
afterEach(() => {
  Reflect.deleteProperty(globalThis, 'Notification');
  Reflect.deleteProperty(document, 'hidden');
});

describe('permission to notify', () => {
  it('is requested only by a click, and only after a first vote', async () => {
    const { show, user } = stage();
    show(
      <>
        <p>shown</p>
        <NotificationOffer hasVoted={false} />
      </>,
    );
    await screen.findByText('shown');
    expect(screen.queryByRole('region', { name: 'Notifications' })).toBeNull();
    const second = stage();
    second.show(<NotificationOffer hasVoted />);
    await user.click(await screen.findByRole('button', { name: 'Turn on notifications' }));
    expect([PlayedNotification.requests, screen.queryByRole('region', { name: 'Notifications' })]).toEqual([1, null]);
  });

  it('is not offered again to a person who declined', async () => {
    const { show, user } = stage();
    show(<NotificationOffer hasVoted />);
    await user.click(await screen.findByRole('button', { name: 'Not now' }));
    expect([PlayedNotification.requests, localStorage.getItem('countersign-notifications')]).toEqual([0, 'off']);
  });
});

describe('a call that begins to wait', () => {
  it('is counted in the title, and notified while the page is hidden', async () => {
    const { peer, show, readAgain } = stage();
    peer.refuses(createSessionTicket, 'RATE_LIMITED');
    peer.answers(getSnapshot, snapshot());
    PlayedNotification.permission = 'granted';
    show(
      <LivePages>
        <Page title="Overview">page</Page>
      </LivePages>,
    );
    await waitFor(() => expect(document.title).toBe('Overview · Countersign'));
    Object.defineProperty(document, 'hidden', { value: true, configurable: true });
    peer.answers(getSnapshot, snapshot({ counts: { pending_approvals: 2, waiting_for_you: 2 } }));
    await readAgain();
    await waitFor(() => expect(document.title).toBe('(2) Overview · Countersign'));
    expect(PlayedNotification.shown).toEqual(['2 calls wait for you']);
  });
});

describe('arguments as fields', () => {
  it('are plain text, one value per line, and long values are cut until they are expanded', async () => {
    const { show, user } = stage();
    const long = 'x'.repeat(100_000);
    show(<ArgumentFields args={{ amount_minor: 418_000, creditor: { name: '<img src=x>\u202e' }, note: long }} />);
    expect((await screen.findByText('creditor.name')).closest('div')?.textContent).toBe(
      'creditor.name<img src=x>⟨U+202E⟩',
    );
    expect(screen.getByText('418000')).toBeTruthy();
    expect(document.querySelector('img')).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Show all 100,000 characters' }));
    expect(screen.getByText(long)).toBeTruthy();
  });
});
