import { Button } from '@mantine/core';
import type { OpsOverview, StandingFence } from '@countersign/contracts/control-plane';
import { EmptyState } from '../parts/empty-state.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { OpenCalls } from './open-calls.tsx';
import { stopKinds } from './kinds.ts';
import { Terms } from './terms.tsx';

type Props = { ops: OpsOverview; onStop: (() => void) | null };

/** The fences that the kernel holds to. */
export function Fences({ ops: { kernel, fences, more_fences }, onStop }: Props) {
  if (kernel === 'unreachable') return null;
  return (
    <section aria-label="In force">
      <h2>In force</h2>
      {fences.length === 0 ? <NothingStopped onStop={onStop} /> : <Standing fences={fences} />}
      {more_fences && <p className="quiet">There are more than are shown.</p>}
    </section>
  );
}

function Standing({ fences }: { fences: StandingFence[] }) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Fences">
      <table>
        <thead>
          <tr>
            <th>Stop</th>
            <th>Around</th>
            <th>Why</th>
            <th className="wide number">Epoch</th>
            <th className="wide">Since</th>
            <th>Until</th>
            <th>On their way</th>
          </tr>
        </thead>
        <tbody>
          {fences.map((fence) => (
            <Row key={fence.scope} fence={fence} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ fence }: { fence: StandingFence }) {
  const { target, scope, kind, epoch, reason, effective_at, expires_at } = fence;
  return (
    <tr>
      <td className="tight">
        <Mark tone={stopKinds[kind].tone}>{kind}</Mark>
        <Terms of={fence} />
      </td>
      <td>
        <Shown text={target ?? scope} />
        {target === null && <p className="quiet">More than this workspace: who runs the installation lifts it.</p>}
      </td>
      <td>
        <Shown text={reason} />
      </td>
      <td className="wide number">{epoch}</td>
      <td className="tight wide">
        <Moment at={effective_at} />
      </td>
      <td className="tight">{expires_at === null ? 'somebody resumes it' : <Moment at={expires_at} />}</td>
      <td>
        <OpenCalls calls={fence.open_dispatches} hasMore={fence.more_open_dispatches} />
      </td>
    </tr>
  );
}

function NothingStopped({ onStop }: { onStop: (() => void) | null }) {
  return (
    <EmptyState
      title="Nothing is stopped"
      action={
        onStop !== null && (
          <Button variant="default" onClick={onStop}>
            Try it: throttle a tool that nobody calls
          </Button>
        )
      }
    >
      A freeze stops a workspace, an agent, a tool or an MCP server within a second, on every kernel, although a policy
      would allow it. It leaves a receipt as every decision does.
    </EmptyState>
  );
}
