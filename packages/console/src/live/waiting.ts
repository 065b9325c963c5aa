import { useEffect, useSyncExternalStore } from 'react';
import { useSnapshot } from './snapshot.ts';

/** The number of calls that wait for the person, for the title of the document. 0 while it is unknown. */
let waiting = 0;
const listeners = new Set<() => void>();

function setWaiting(count: number): void {
  waiting = count;
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useWaiting(): number {
  return useSyncExternalStore(listen, () => waiting);
}

/** Updates the number, and notifies the person of new calls while the page is hidden. */
export function useFollowWaiting(onOpen: () => void): void {
  const { data, error } = useSnapshot();
  const count = error === null ? data?.boundary?.counts.waiting_for_you : undefined;
  useEffect(() => {
    if (count === undefined) return;
    if (count > waiting && document.hidden) notify(count, onOpen);
    setWaiting(count);
  }, [count, onOpen]);
  useEffect(() => () => setWaiting(0), []);
}

/** The console writes the whole text. Notifications contain no text of an agent. */
function notify(count: number, onOpen: () => void): void {
  if (typeof Notification === 'undefined' || Notification.permission !== 'granted') return;
  try {
    const notification = new Notification(count === 1 ? '1 call waits for you' : `${count} calls wait for you`, {
      tag: 'countersign-waiting',
    });
    notification.addEventListener('click', () => {
      window.focus();
      onOpen();
      notification.close();
    });
  } catch {
    // Some mobile browsers show notifications only for installed apps. The title and the inbox show the number as well.
  }
}
