import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { HandleId } from '@countersign/contracts/control-plane';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { RevokeHandle } from './revoke-handle.tsx';

/** Handles are listed nowhere, so whoever has an address takes it back by that. */
export function TakeBack() {
  const { role } = useWorkspace();
  const [address, setAddress] = useState('');
  const [isDone, setDone] = useState(false);
  if (role === 'member') return null;
  const handle = HandleId.safeParse(address.trim().split('/').at(-1)).data;
  return (
    <details className="after-table">
      <summary>Take a public proof back</summary>
      <div className="stacked narrow">
        <TextInput
          label="Address or handle"
          autoComplete="off"
          spellCheck={false}
          value={address}
          onChange={({ target }) => {
            setAddress(target.value);
            setDone(false);
          }}
        />
        {handle !== undefined && !isDone && (
          <p>
            <RevokeHandle handle={handle} onRevoked={() => setDone(true)} />
          </p>
        )}
        {isDone && (
          <p className="note note-good" role="status">
            It leads nowhere any more.
          </p>
        )}
      </div>
    </details>
  );
}
