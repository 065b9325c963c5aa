import { Button } from '@mantine/core';
import type { OpsOverview, StandingFence } from '@countersign/contracts/control-plane';
import { CopyCommand } from '../parts/copy-command.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { OpenCalls } from './open-calls.tsx';
import { stopKinds } from './kinds.ts';
import type { Liftable } from './resume-dialog.tsx';
import { Terms } from './terms.tsx';

type Props = { ops: OpsOverview; onStop: (() => void) | null; onResume: ((fence: Liftable) => void) | null };

/** The fences that the kernel holds to. */
export function Fences({ ops: { kernel, fences, more_fences }, onStop, onResume }: Props) {
  if (kernel === 'unreachable') return null;
  return (
    <section aria-label="In force">
      <h2>In force</h2>
      {fences.length === 0 ? <NothingStopped onStop={onStop} /> : <Standing fences={fences} onResume={onResume} />}
      <CopyCommand words="stops ls" count={fences.length} />
      {more_fences && <p className="quiet">More stops exist than are shown.</p>}
    </section>
  );
}

type StandingProps = Pick<Props, 'onResume'> & { fences: StandingFence[] };

function Standing({ fences, onResume }: StandingProps) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Fences">
      <table className="cards">
        <thead>
          <tr>
            <th>Stop</th>
            <th>Around</th>
            <th>Why</th>
            <th className="number">Epoch</th>
            <th>Since</th>
            <th>Until</th>
            <th>On their way</th>
            {onResume !== null && (
              <th>
                <span className="hidden">Act</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {fences.map((fence) => (
            <Row key={fence.scope} fence={fence} onResume={onResume} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ fence, onResume }: Pick<Props, 'onResume'> & { fence: StandingFence }) {
  const { target, scope, kind, epoch, reason, effective_at, expires_at } = fence;
  return (
    <tr data-id={scope}>
      <td className="tight" data-name="Stop">
        <Mark tone={stopKinds[kind].tone}>{kind}</Mark>
        <Terms of={fence} />
      </td>
      <td data-name="Around">
        <Shown text={target ?? scope} />
        {target === null && (
          <p className="quiet">Covers more than this workspace. The operator of the installation can lift it.</p>
        )}
      </td>
      <td data-name="Why">
        <Shown text={reason} />
      </td>
      <td className="number" data-name="Epoch">
        {epoch}
      </td>
      <td className="tight" data-name="Since">
        <Moment at={effective_at} />
      </td>
      <td data-name="Until">{expires_at === null ? 'it is resumed' : <Moment at={expires_at} />}</td>
      <td data-name="On their way">
        <OpenCalls calls={fence.open_dispatches} hasMore={fence.more_open_dispatches} />
      </td>
      {onResume !== null && (
        <td className="tight">
          {target !== null && (
            <Button size="compact-xs" variant="default" onClick={() => onResume({ target, kind, reason, epoch })}>
              Resume
            </Button>
          )}
        </td>
      )}
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
            Try it: slow down an unused tool
          </Button>
        )
      }
    >
      A freeze stops a workspace, an agent, a tool or an MCP server within a second, whatever the policy allows. Each
      stop leaves a receipt.
    </EmptyState>
  );
}
