import { Button, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Loaded } from '../parts/loaded.tsx';
import { Shown } from '../parts/shown.tsx';
import { keySetIn, newAmong, pin, readPinned, type KeySet } from './pinned-keys.ts';
import { proofClient } from './proof-client.ts';

type Props = { onKeys: (keys: KeySet | null) => void };

/**
 * The keys for the verification: those that this browser pinned at its first visit, or those that the person enters.
 * Keys that the server publishes later count only after they are pinned.
 */
export function KeysInUse({ onKeys }: Props) {
  const report = useQuery({
    queryKey: ['signing-key'],
    queryFn: async ({ signal }) => (await proofClient.getSigningKey({ signal })).body,
    staleTime: Infinity,
  });
  return <Loaded query={report}>{(keys) => <Pinned keySet={keys} onKeys={onKeys} />}</Loaded>;
}

function Pinned({ keySet, onKeys }: Props & { keySet: KeySet }) {
  const [pinned, setPinned] = useState(() => readPinned() ?? keySet);
  const [input, setGiven] = useState('');
  const [root, setRoot] = useState('');
  const keys = input.trim() === '' ? pinned : keySetIn(input, root.trim());
  const unpinned = newAmong(keySet, pinned);
  useEffect(() => pin(pinned), [pinned]);
  useEffect(() => onKeys(keys), [JSON.stringify(keys)]);
  return (
    <div className="stacked">
      <p>
        Keys in use:{' '}
        {keys === null
          ? 'None. The text is neither a key set nor a trust list.'
          : keys.keys.map(({ kid }) => (
              <code key={kid}>
                <Shown text={kid} />{' '}
              </code>
            ))}
      </p>
      <p className="quiet">
        {input.trim() === ''
          ? 'On your first visit, this browser pinned the keys that this installation published.'
          : 'You entered these keys.'}
      </p>
      {unpinned.length > 0 && (
        <div className="note note-problem" role="status">
          <p>This server now publishes keys that were not pinned: {unpinned.join(', ')}. They are not used.</p>
          <Button size="xs" variant="default" onClick={() => setPinned(keySet)}>
            Pin the current keys
          </Button>
        </div>
      )}
      <Textarea
        label="Keys that you trust"
        description="The keys.json that you kept, as the kernel serves it at /api/v1/trust/keys, or trust.json. If empty, the pinned keys are used."
        rows={2}
        value={input}
        onChange={(event) => setGiven(event.currentTarget.value)}
      />
      {keys !== null && 'trust' in keys && (
        <TextInput
          label="Root key"
          description="The root key that you pinned. The trust list counts only if this key signed it."
          value={root}
          onChange={(event) => setRoot(event.currentTarget.value)}
        />
      )}
    </div>
  );
}
