import { Button, Drawer } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { reasonCodes } from '@countersign/contracts';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { useShortcuts } from '../keys/shortcuts.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { VerdictMark } from '../parts/mark.tsx';
import { reasonSays } from '../parts/reason-says.ts';
import { Shown, ShownJson } from '../parts/shown.tsx';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { HowDecided, sentenceOf } from './how-decided.tsx';
import { KeepInDraft } from './keep-in-draft.tsx';
import { PublicLink } from './public-link.tsx';
import type { Verified } from './verification.ts';
import { verifyInWorker } from './verify-in-worker.ts';

type Props = { id: string | null; onClose: () => void };

export function ReceiptDrawer({ id, onClose }: Props) {
  return (
    <Drawer opened={id !== null} onClose={onClose} title="Receipt" position="right" size="lg">
      {id !== null && <Whole id={id} key={id} />}
    </Drawer>
  );
}

function Whole({ id }: { id: string }) {
  const receipt = useWorkspaceQuery(['receipt', id], (client, signal) =>
    client.getReceipt({ params: { receipt_id: id }, signal }),
  );
  return (
    <Loaded query={receipt}>
      {(found) => (
        <div className="stacked receipt">
          <What receipt={found} />
          {found.payload.kind === 'decision' && <HowDecided receipt={found} />}
          <Members receipt={found} />
          <Verification receipt={found} />
          <KeepInDraft receipt={found} />
          <PublicLink receipt={found} />
          <ShownJson value={found} label="The receipt as it is served" />
        </div>
      )}
    </Loaded>
  );
}

/** The call, the reason, and the reader's next step. */
function What({ receipt: { payload } }: { receipt: StoredReceipt }) {
  const { verdict, reason_code } = payload;
  return (
    <>
      <h2>
        <Shown text={sentenceOf(payload)} />
      </h2>
      <p>
        <VerdictMark verdict={verdict} /> {reasonSays(reason_code)} <code className="quiet">{reason_code}</code>
      </p>
      {verdict !== 'ALLOW' && (
        <p className="note">
          <strong>What you can do:</strong> {reasonCodes[reason_code].nextStep}
        </p>
      )}
    </>
  );
}

function Members({ receipt: { payload, receipt_hash, log_index } }: { receipt: StoredReceipt }) {
  const { receipt_id, decision_id, session_id, policy_hash, lamport_clock } = payload;
  const copied = { receipt_id, decision_id, session_id, receipt_hash, policy_hash };
  return (
    <dl className="facts">
      <dt>Call</dt>
      <dd>
        <Shown text={payload.tool ?? payload.action} /> ({payload.effect_level})
      </dd>
      <dt>Place</dt>
      <dd>
        {lamport_clock} in its session, {log_index} in the log
      </dd>
      {Object.entries(copied).map(([name, text]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{text === null ? 'none' : <CopyText text={text} />}</dd>
        </div>
      ))}
    </dl>
  );
}

function Verification({ receipt }: { receipt: StoredReceipt }) {
  const { client } = useWorkspace();
  const verify = useMutation({
    mutationFn: async () => {
      const { receipt_id } = receipt.payload;
      const [keys, proof] = await Promise.all([
        client.listTrustKeys(),
        client.getInclusionProof({ query: { receipt_id } }),
      ]);
      return verifyInWorker({ receipt, keys: keys.body, proof: proof.body });
    },
  });
  const verifyHere = () => {
    if (!verify.isPending) verify.mutate();
  };
  useShortcuts([{ keys: 'v', says: 'Verify in the browser', isOfDialog: true, run: verifyHere }]);
  return (
    <section aria-label="Verification">
      <Button size="xs" variant="default" aria-keyshortcuts="v" loading={verify.isPending} onClick={verifyHere}>
        Verify in the browser
      </Button>
      {verify.data !== undefined && <Finding verified={verify.data} />}
      {verify.error !== null && <ProblemNote error={verify.error} />}
    </section>
  );
}

function Finding({ verified }: { verified: Verified }) {
  if (!verified.isProven)
    return (
      <p className="note note-problem" role="alert">
        It does not verify: {verified.message} <span className="quiet">{verified.code}</span>
      </p>
    );
  return (
    <p className="note note-good" role="status">
      Verified in this browser: key {verified.keyId} signed it, and it is in the signed log of {verified.treeSize}{' '}
      receipts. The keys came from this server. Use keys you kept yourself.
    </p>
  );
}
