import { Button } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { useShortcuts } from '../keys/shortcuts.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import type { Verified } from './verification.ts';
import { verifyInWorker } from './verify-in-worker.ts';

/** Checks the very receipt that is shown, as soon as it is shown. The key holds all of it: another one is checked again. */
function useVerification(receipt: StoredReceipt) {
  const { id, client } = useWorkspace();
  return useQuery({
    queryKey: [id, 'receipts', 'verification', receipt],
    queryFn: async () => {
      const { receipt_id } = receipt.payload;
      const [keys, proof] = await Promise.all([
        client.listTrustKeys(),
        client.getInclusionProof({ query: { receipt_id } }),
      ]);
      return await verifyInWorker({ receipt, keys: keys.body, proof: proof.body });
    },
    // A finding of an earlier visit is no finding of this one.
    gcTime: 0,
    staleTime: Infinity,
    networkMode: 'always',
  });
}

/** Whether the receipt is genuine, what was checked, and what that does not show. */
export function ReceiptProof({ receipt }: { receipt: StoredReceipt }) {
  const { data, error, isFetching, dataUpdatedAt, refetch } = useVerification(receipt);
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
      <Checks keyId={verified.keyId} treeSize={verified.treeSize} receipt={receipt} />
    </>
  );
}

type ChecksProps = { keyId: string; treeSize: number; receipt: StoredReceipt };

function Checks({ keyId, treeSize, receipt: { receipt_hash: hash, log_index: index } }: ChecksProps) {
  const checks = [
    { title: 'Signature', says: <CopyText text={keyId} />, before: 'signed with key ' },
    { title: 'Content', says: <CopyText text={hash} />, before: 'matches its hash ' },
    { title: 'Place in the log', says: `${index} in a signed log of ${treeSize} receipts`, before: '' },
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

function NotProven() {
  return (
    <section aria-label="What this does not prove">
      <h3>What this does not prove</h3>
      <ul className="note">
        <li>That the keys are the right ones. The keys came from this server. Use keys you kept yourself.</li>
        <li>That nothing else happened. An export of the session shows that no receipt is missing.</li>
        <li>Checks, facts and approval on this page. They come from the server and are not compared here.</li>
        <li>The effect of the tool. The receipt of a decision shows what was allowed, not what followed.</li>
      </ul>
    </section>
  );
}
