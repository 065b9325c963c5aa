import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { PublicReceipt } from '@countersign/contracts/control-plane';
import { useShortcuts } from '../keys/shortcuts.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { KeysInUse } from './keys-in-use.tsx';
import { OriginalDrop } from './original-drop.tsx';
import type { KeySet } from './pinned-keys.ts';
import type { Proven } from './proof-claim.ts';
import { proveInWorker } from './prove-in-worker.ts';

/**
 * Verifies the receipt in this browser with the shown keys. People who have the original receipt can compare it with
 * the published one.
 */
export function ReceiptProof({ receipt }: { receipt: PublicReceipt }) {
  const [keys, setKeys] = useState<KeySet | null>(null);
  const prove = useMutation({
    mutationFn: (original: string | null) =>
      proveInWorker({ statement: receipt, keys: keys ?? { keys: [] }, original }),
  });
  const verifyHere = () => keys !== null && prove.mutate(null);
  useShortcuts([{ keys: 'v', says: 'Verify here', run: verifyHere }]);
  return (
    <>
      <section aria-labelledby="verification">
        <h2 id="verification">Verify it here</h2>
        <KeysInUse
          onKeys={(next) => {
            prove.reset();
            setKeys(next);
          }}
        />
        <Button size="xs" variant="default" disabled={keys === null} loading={prove.isPending} onClick={verifyHere}>
          Verify here
        </Button>
        <OriginalDrop isReady={keys !== null} onText={(text) => prove.mutate(text)} />
        {prove.data !== undefined && <Finding proven={prove.data} />}
        {prove.error !== null && <ProblemNote error={prove.error} />}
      </section>
      <NotProven />
    </>
  );
}

function Finding({ proven }: { proven: Proven }) {
  if (!proven.isProven)
    return (
      <p className="note note-problem" role="alert">
        It does not verify: <Shown text={proven.message} /> <span className="quiet">{proven.code}</span>
      </p>
    );
  return (
    <p className="note note-good" role="status">
      Verified in this browser: this receipt is in the log <Shown text={proven.log} />. The key of the log signed a
      checkpoint of {proven.treeSize} receipts at {proven.signedAt}.{' '}
      {proven.isOriginal
        ? 'The file is the original. Its signature verifies, and its content matches this page.'
        : 'Drop the original to check its signature and content.'}
    </p>
  );
}

function NotProven() {
  return (
    <section aria-labelledby="unproven">
      <h2 id="unproven">What this does not prove</h2>
      <ul className="note">
        <li>
          Without the original, this proves only that a receipt with this hash is in the signed log. The original proves
          its verdict and time.
        </li>
        <li>
          That the keys are the right ones. Compare their ids with those you received from the operator on another
          channel.
        </li>
        <li>That nothing else happened. One receipt covers one call. Completeness needs an export of its session.</li>
        <li>The agent, the resource and the arguments. They are not public.</li>
      </ul>
    </section>
  );
}
