import { Link } from '@tanstack/react-router';
import { minorTaken } from '@countersign/contracts';
import {
  approveServerAction,
  readApproveServerResource,
  type Approval,
  type BoundaryRecord,
} from '@countersign/contracts/governance-kernel';
import { CopyText } from '../parts/copy-text.tsx';
import { inMoney } from '../parts/in-money.ts';
import { Moment } from '../parts/moment.tsx';
import { Shown, ShownJson } from '../parts/shown.tsx';
import { useCallRecord } from './call-record.ts';

/** The requested call, and the reason for the approval. */
export function AskedFacts({ approval }: { approval: Approval }) {
  const record = useCallRecord(approval);
  return (
    <dl className="facts">
      <dt>Why you are asked</dt>
      <dd>
        <Shown text={approval.reason} />
      </dd>
      <dt>Rule</dt>
      <dd>
        <Shown text={record.data === undefined ? waitingFor(record) : ruleInWords(record.data)} />
      </dd>
      <dt>Asked by</dt>
      <dd>
        <CopyText text={approval.requested_by} whole />
      </dd>
      {approval.resource !== null && (
        <>
          <dt>Resource</dt>
          <dd>
            <Shown text={approval.resource} />
            <ServerLink approval={approval} />
          </dd>
        </>
      )}
      <dt>Uses</dt>
      <dd>
        {demandInWords(approval.demand, record.data?.budgets.find(({ currency }) => currency !== null)?.currency)}
      </dd>
      <dt>Votes</dt>
      <dd>
        {approval.approved_by.length} of {approval.quorum}
        {approval.timelock_seconds > 0 && `, then it waits for ${approval.timelock_seconds} s`}
      </dd>
    </dl>
  );
}

/** An approver reads the tools of a server before approving it. */
function ServerLink({ approval: { action, resource } }: { approval: Approval }) {
  const server = action === approveServerAction ? readApproveServerResource(resource) : null;
  if (server === null) return null;
  return (
    <>
      {' '}
      <Link to="/tools" search={{ server: server.serverId }}>
        See its tools
      </Link>
    </>
  );
}

function waitingFor({ error }: { error: Error | null }): string {
  return error === null ? 'Loading…' : 'Unknown. The record cannot be read.';
}

/** The rules that matched in the kernel's record, or the gate that asks without one. */
function ruleInWords(record: BoundaryRecord | null): string {
  if (record === null) return 'None. The approval was requested in advance.';
  const { matched_rules: rules, gates } = record;
  const asking = gates.find(({ outcome }) => outcome === 'escalate');
  const gate = asking === undefined ? '' : `gate ${asking.gate}`;
  return [rules.join(', '), gate].filter((words) => words !== '').join(', by the ');
}

function demandInWords(demand: Approval['demand'], currency: string | null = null): string {
  const { tool_calls, spend_micros, egress_bytes, writes } = demand;
  const spend =
    spend_micros === null ? 'unknown' : `at most ${inMoney(Number(minorTaken(BigInt(spend_micros))), currency)}`;
  return `tool calls: ${tool_calls}, writes: ${writes}, bytes out: ${egress_bytes}, spend: ${spend}`;
}

/** The very object that is signed: what the policy read, and the hashes that bind a vote to it. */
export function SignedFacts({ approval }: { approval: Approval }) {
  const { facts, preconditions, intent_hash, judged_hash, policy_hash, ceremony_hash } = approval;
  const hashes = { intent_hash, judged_hash, policy_hash, ceremony_hash };
  return (
    <>
      <h3>What the policy read</h3>
      <ShownJson value={facts} label="Facts" />
      <h3>Conditions that must still hold</h3>
      <ShownJson value={preconditions} label="Preconditions" />
      <h3>What a vote signs</h3>
      <dl className="facts">
        {Object.entries(hashes).map(([name, hash]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{hash === null ? 'none' : <CopyText text={hash} whole />}</dd>
          </div>
        ))}
        <div>
          <dt>approval_id</dt>
          <dd>
            <CopyText text={approval.approval_id} whole />
          </dd>
        </div>
        <div>
          <dt>session_id</dt>
          <dd>
            <CopyText text={approval.session_id} whole />
          </dd>
        </div>
        <div>
          <dt>expires_at</dt>
          <dd>
            <Moment at={approval.expires_at} />
          </dd>
        </div>
      </dl>
    </>
  );
}
