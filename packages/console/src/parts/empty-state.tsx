import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useClipboard } from '@mantine/hooks';

type Props = { title: string; children: ReactNode; command?: string; action?: ReactNode };

/** The purpose of an empty page. `command` runs without changes. */
export function EmptyState({ title, children, command, action }: Props) {
  return (
    <section className="empty">
      <h2>{title}</h2>
      <div>{children}</div>
      {command !== undefined && <Command text={command} />}
      {action}
    </section>
  );
}

const shownForMs = 1_500;

function Command({ text }: { text: string }) {
  const { copy, copied } = useClipboard({ timeout: shownForMs });
  return (
    <>
      <pre className="command" tabIndex={0} role="region" aria-label="Command">
        {text}
      </pre>
      <Button size="xs" variant="default" onClick={() => copy(text)}>
        <span role="status">{copied ? 'Copied' : 'Copy the command'}</span>
      </Button>
    </>
  );
}
