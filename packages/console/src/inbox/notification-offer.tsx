import { Button } from '@mantine/core';
import { useState } from 'react';

const preference = 'countersign-notifications';

/** Shown only after a first vote, when the person knows what a notification would be about. */
export function NotificationOffer({ hasVoted }: { hasVoted: boolean }) {
  const [isAnswered, setAnswered] = useState(() => localStorage.getItem(preference) !== null);
  const mayAsk = typeof Notification !== 'undefined' && Notification.permission === 'default';
  if (!hasVoted || isAnswered || !mayAsk) return null;
  const answer = (choice: 'on' | 'off') => {
    localStorage.setItem(preference, choice);
    setAnswered(true);
    if (choice === 'on') void Notification.requestPermission();
  };
  return (
    <section className="note offer" aria-label="Notifications">
      <p>Show a notification in this browser when a call waits for you?</p>
      <span className="page-actions">
        <Button size="xs" variant="default" onClick={() => answer('on')}>
          Turn on notifications
        </Button>
        <Button size="xs" variant="subtle" onClick={() => answer('off')}>
          Not now
        </Button>
      </span>
    </section>
  );
}
