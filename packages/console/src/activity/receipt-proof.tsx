import { Button } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { useShortcuts } from '../keys/shortcuts.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Moment } from '../parts/moment.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { OwnWitnesses, readWitnesses } from './own-witnesses.tsx';
import type { ReceiptTime, Verified } from './verification.ts';
import { verifyInWorker } from './verify-in-worker.ts';

/**
 * Verifies the shown receipt at once. The query key contains the whole receipt, so a changed receipt is verified again.
 */
function useVerification(receipt: StoredReceipt, witnesses: string | null) {
  const { id, client } = useWorkspace();
  return useQuery({
    queryKey: [id, 'receipts', 'verification', receipt, witnesses],
    queryFn: async () => {
      const { receipt_id } = receipt.payload;
      const [keys, proof] = await Promise.all([
        client.listTrustKeys(),
        client.getInclusionProof({ query: { receipt_id } }),
      ]);
      return await verifyInWorker({ receipt, keys: keys.body, proof: proof.body, witnesses });
    },
    // Results of earlier visits are not reused.
    gcTime: 0,
    staleTime: Infinity,
    networkMode: 'always',
  });
}

/** Whether the receipt is genuine, what was checked, and what the check does not prove. */
export function ReceiptProof({ receipt }: { receipt: StoredReceipt }) {
  const [witnesses, setWitnesses] = useState(readWitnesses);
  const { data, error, isFetching, dataUpdatedAt, refetch } = useVerification(receipt, witnesses);
  const again = () => {
    if (!isFetching) void refetch();
  };
  useShortcuts([{ keys: 'v', says: 'Check the receipt again', run: again }]);
  return (
    <section aria-label="Verification">
      <h2>Verification</h2>
      {isFetching ? (
        <p className="note" role="status">
          Checking in this browser…
        </p>
      ) : (
        <>
          {error !== null && <ProblemNote error={error} />}
          {error === null && data !== undefined && <Finding verified={data} receipt={receipt} atMs={dataUpdatedAt} />}
        </>
      )}
      <Button size="xs" variant="default" aria-keyshortcuts="v" loading={isFetching} onClick={again}>
        Check again
      </Button>
      <OwnWitnesses witnesses={witnesses} onChange={setWitnesses} />
      <NotProven />
    </section>
  );
}

type FindingProps = { verified: Verified; receipt: StoredReceipt; atMs: number };

function Finding({ verified, receipt, atMs }: FindingProps) {
  if (!verified.isProven)
    return (
      <div className="note note-problem" role="alert">
        <p>
          <strong>Not genuine</strong>
        </p>
        <p>
          It does not verify: <Shown text={verified.message} /> <span className="quiet">{verified.code}</span>
        </p>
        <p>Do not rely on what this page shows. Report an incident, and keep the receipt.</p>
      </div>
    );
  return (
    <>
      <div className="note note-good" role="status">
        <p>
          <strong>Genuine and unchanged</strong>
        </p>
        <p>Verified in this browser at {new Date(atMs).toLocaleTimeString('en-GB')}.</p>
      </div>
      <Checks keyId={verified.keyId} treeSize={verified.treeSize} time={verified.time} receipt={receipt} />
    </>
  );
}

type ChecksProps = { keyId: string; treeSize: number; time: ReceiptTime; receipt: StoredReceipt };

function Checks({ keyId, treeSize, time, receipt: { receipt_hash: hash, log_index: index } }: ChecksProps) {
  const checks = [
    { title: 'Signature', says: <CopyText text={keyId} />, before: 'signed with key ' },
    { title: 'Content', says: <CopyText text={hash} />, before: 'matches its hash ' },
    { title: 'Place in the log', says: `${index} in a signed log of ${treeSize} receipts`, before: '' },
    { title: time.kind === 'witnessed' ? 'Witnessed' : 'Logged', says: <TimeBound time={time} />, before: '' },
  ];
  return (
    <ul className="checks" aria-label="Checks">
      {checks.map(({ title, before, says }) => (
        <li key={title}>
          <IconCheck size={16} aria-hidden="true" />
          <strong>{title}</strong>
          <p className="quiet">
            {before}
            {says}
          </p>
        </li>
      ))}
    </ul>
  );
}

function TimeBound({ time }: { time: ReceiptTime }) {
  if (time.kind === 'witnessed')
    return (
      <>
        Your witnesses had cosigned it by <Moment at={time.by} />
      </>
    );
  return (
    <>
      Only the log of this installation states its time: <Moment at={time.by} />
      {time.problem !== null && (
        <>
          . <Shown text={time.problem} />
        </>
      )}
    </>
  );
}

function NotProven() {
  return (
    <section aria-label="What this does not prove">
      <h3>What this does not prove</h3>
      <ul className="note">
        <li>Whether the keys are the right ones. They came from this server. Use keys you kept yourself.</li>
        <li>That nothing else happened. An export of the session shows that no receipt is missing.</li>
        <li>Checks, facts and approval on this page. They come from the server and are not compared here.</li>
        <li>The effect of the tool. The receipt of a decision shows what was allowed, not what followed.</li>
      </ul>
    </section>
  );
}
