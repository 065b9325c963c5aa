import { Link } from '@tanstack/react-router';
import { mayDo } from '@countersign/contracts';
import type { AccessKey, AgentProfile } from '@countersign/contracts/governance-kernel';
import { serverClock } from '../api/server-clock.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';

const keysMax = 200;
const soonMs = 7 * 24 * 3_600_000;

/** Keys with which the agent signs in. Owners see the keys, and other members see only their number. */
export function AgentAccessKeys({ agent: { principal_id: name, live_keys: count } }: { agent: AgentProfile }) {
  const { role } = useWorkspace();
  const mayManage = mayDo(role, 'agent_key.manage');
  return (
    <section aria-label="Keys">
      <div className="section-head">
        <h2>Keys</h2>
        {mayManage && (
          <Link to="/members" className="button">
            Create key
          </Link>
        )}
      </div>
      {mayManage ? (
        <OwnerKeys name={name} />
      ) : (
        <p className="quiet">{count === 1 ? '1 key is active.' : `${count} keys are active.`} Owners see the keys.</p>
      )}
    </section>
  );
}

function OwnerKeys({ name }: { name: string }) {
  const keys = useWorkspaceQuery(['agent keys', 'newest'], (client, signal) =>
    client.listAccessKeys({ query: { limit: keysMax }, signal }),
  );
  return (
    <Loaded query={keys}>
      {({ data, next_cursor: next }) => {
        const own = data.filter(({ principal_id, revoked_at }) => principal_id === name && revoked_at === null);
        if (own.length === 0)
          return (
            <p className="quiet">
              {next === null ? 'No key of its own.' : `None of the ${keysMax} newest keys belongs to this agent.`} The
              agent may use a key of the workspace or an identity of its own.
            </p>
          );
        return <KeyTable keys={own} />;
      }}
    </Loaded>
  );
}

function KeyTable({ keys }: { keys: readonly AccessKey[] }) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Keys of this agent">
      <table className="cards">
        <thead>
          <tr>
            <th>Key</th>
            <th>May call</th>
            <th>Last used</th>
            <th>Ends</th>
          </tr>
        </thead>
        <tbody>
          {keys.map(({ key_id, prefix, tools, doors, last_used_at: usedAt, expires_at: endsAt }) => (
            <tr key={key_id} data-id={key_id}>
              <td data-name="Key">
                <code title={key_id}>{prefix}…</code>
              </td>
              <td data-name="May call">
                {tools === null ? 'Every tool' : <Tools names={tools} />}
                {` by ${doors.join(', ')}`}
              </td>
              <td className="tight" data-name="Last used">
                {usedAt === null ? 'never' : <Moment at={usedAt} />}
              </td>
              <td className="tight" data-name="Ends">
                <Moment at={endsAt} /> <Ending at={endsAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Tools({ names }: { names: readonly string[] }) {
  const [first] = names;
  if (names.length === 1 && first !== undefined) return <Shown text={first} />;
  return <span title={names.join(', ')}>{names.length} tools</span>;
}

function Ending({ at }: { at: string }) {
  const leftMs = Date.parse(at) - serverClock.nowMs();
  if (leftMs <= 0) return <Mark tone="plain">Ended</Mark>;
  return leftMs < soonMs ? <Mark tone="wait">Ends soon</Mark> : null;
}
