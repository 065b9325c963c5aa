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
import { Who } from '../parts/who.tsx';
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
      <dt>Requested by</dt>
      <dd>
        <Who actor={approval.requested_by} />
      </dd>
      <dt>{approval.tool === null ? 'Action' : 'Tool'}</dt>
      <dd>
        <Shown text={approval.tool ?? approval.action} />
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

/** Links to the tools of a server, because an approver reads them before approving the server. */
function ServerLink({ approval: { action, resource } }: { approval: Approval }) {
  const server = action === approveServerAction ? readApproveServerResource(resource) : null;
  if (server === null) return null;
  return (
    <>
      {' '}
      <Link to="/tools" search={{ server: server.serverId }}>
        See its tools
      </Link>
      {server.expiresAt !== undefined && (
        <>
          . The approval of the server ends <Moment at={server.expiresAt} />
        </>
      )}
    </>
  );
}

function waitingFor({ error }: { error: Error | null }): string {
  return error === null ? 'Loading…' : 'Unknown. The record cannot be read.';
}

/** The rules that matched in the kernel's record, and the gate that requires approval. */
function ruleInWords(record: BoundaryRecord | null): string {
  if (record === null) return 'None. The approval was requested in advance.';
  const { matched_rules: rules, gates } = record;
  const asking = gates.find(({ outcome }) => outcome === 'escalate');
  const gate = asking === undefined ? '' : `gate ${asking.gate}`;
  return [rules.join(', '), gate].filter((words) => words !== '').join(', ');
}

function demandInWords(demand: Approval['demand'], currency: string | null = null): string {
  const { tool_calls, spend_micros, egress_bytes, writes } = demand;
  const spend =
    spend_micros === null
      ? 'spend unknown'
      : `at most ${inMoney(Number(minorTaken(BigInt(spend_micros))), currency)} spent`;
  const counted = [
    countOf(tool_calls, 'tool call'),
    countOf(writes, 'write'),
    `${egress_bytes.toLocaleString('en')} bytes sent`,
    spend,
  ];
  return counted.join(' · ');
}

function countOf(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** The data that a vote signs: the facts that the policy read, and the hashes. */
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
