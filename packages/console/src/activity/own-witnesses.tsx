import { Button, Textarea } from '@mantine/core';
import { useState } from 'react';

const place = 'countersign-witnesses';

/** The witnesses that the person of this browser trusts, as a tlog-policy. `null` when there are none. */
export function readWitnesses(): string | null {
  return localStorage.getItem(place);
}

type Props = { witnesses: string | null; onChange: (witnesses: string | null) => void };

/** The witnesses come from the person and not from the server, because a server could name its own. */
export function OwnWitnesses({ witnesses, onChange }: Props) {
  const [text, setText] = useState(witnesses ?? '');
  const save = () => {
    const kept = text.trim() === '' ? null : text;
    if (kept === null) localStorage.removeItem(place);
    else localStorage.setItem(place, kept);
    onChange(kept);
  };
  return (
    <details>
      <summary>Your witnesses</summary>
      <div className="stacked">
        <Textarea
          label="Witnesses that you trust"
          description="A tlog-policy with witness and quorum lines. Get the keys from the parties that run the witnesses. It stays in this browser."
          rows={3}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Button size="xs" variant="default" disabled={text === (witnesses ?? '')} onClick={save}>
          Save witnesses
        </Button>
      </div>
    </details>
  );
}
