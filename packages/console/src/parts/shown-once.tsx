import { Button } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import type { ReactNode } from 'react';

const saidForMs = 1_500;

type Props = { label: string; text: string; children: ReactNode };

/** A secret that no service returns again, with a button to copy it. */
export function ShownOnce({ label, text, children }: Props) {
  const { copy, copied } = useClipboard({ timeout: saidForMs });
  return (
    <div className="stacked" role="status">
      <p>
        <strong>Copy it now. It is not shown again.</strong> {children}
      </p>
      <pre className="command" tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <Button variant="default" autoFocus onClick={() => copy(text)}>
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  );
}
