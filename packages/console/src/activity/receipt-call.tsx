import { Link } from '@tanstack/react-router';
import type { BoundaryRecord, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { ArgumentFields } from '../inbox/argument-fields.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { Who } from '../parts/who.tsx';
import { effectWords } from '../tools/effect-words.ts';

type Props = { receipt: StoredReceipt; record: BoundaryRecord | null };

/** The call, and the facts that the rules read. Names come from the caller. */
export function ReceiptCall({ receipt: { payload }, record }: Props) {
  const {
    principal_id: agent,
    tool,
    action,
    resource,
    effect_level: effect,
    issued_at: at,
    decision_receipt_id,
  } = payload;
  return (
    <section aria-label="The call">
      <h2>The call</h2>
      <dl className="facts boxed">
        <dt>Agent</dt>
        <dd>
          <Link to="/agents/$id" params={{ id: agent }}>
            <Who actor={agent} />
          </Link>
        </dd>
        <dt>Tool</dt>
        <dd>
          <code>
            <Shown text={tool ?? action} />
          </code>
        </dd>
        <dt>Effect</dt>
        <dd>
          {effectWords[effect]} ({effect})
        </dd>
        {resource !== null && (
          <>
            <dt>On</dt>
            <dd>
              <Shown text={resource} />
            </dd>
          </>
        )}
        <dt>When</dt>
        <dd>
          <Moment at={at} />
        </dd>
        {decision_receipt_id !== undefined && (
          <>
            <dt>Decided by</dt>
            <dd>
              <Link to="/activity/$id" params={{ id: decision_receipt_id }}>
                the receipt of its decision
              </Link>
            </dd>
          </>
        )}
      </dl>
      {record !== null && <Facts record={record} />}
      <Hashes payload={payload} />
    </section>
  );
}

function Facts({ record: { intent } }: { record: BoundaryRecord }) {
  const { facts, capped_facts: capped = {} } = intent;
  const tooLarge = Object.keys(capped).length;
  return (
    <section aria-label="What the rules read">
      <h3>What the rules read</h3>
      {Object.keys(facts).length === 0 ? (
        <p className="quiet">The rules read no value of this call.</p>
      ) : (
        <ArgumentFields args={facts} />
      )}
      {tooLarge > 0 && (
        <p className="quiet">
          {tooLarge === 1 ? '1 value was' : `${tooLarge} values were`} too large to keep. The record has the hash.
        </p>
      )}
    </section>
  );
}

function Hashes({ payload }: { payload: StoredReceipt['payload'] }) {
  const { receipt_id, decision_id, session_id, args_hash, policy_hash, policy_epoch, lamport_clock } = payload;
  const copied = { Receipt: receipt_id, Decision: decision_id, Session: session_id, Policy: policy_hash };
  return (
    <section aria-label="Technical details">
      <h3>Technical details</h3>
      <dl className="facts">
        {Object.entries(copied).map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text === null ? 'none' : <CopyText text={text} />}</dd>
          </div>
        ))}
        <dt>Version</dt>
        <dd>{policy_epoch}</dd>
        <dt>Position in its session</dt>
        <dd>{lamport_clock}</dd>
      </dl>
      <p className="quiet">
        Arguments are not kept, only their hash: <CopyText text={args_hash} />
      </p>
    </section>
  );
}
