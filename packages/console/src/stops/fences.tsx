import { Button } from '@mantine/core';
import { IconGauge, IconShieldX, IconSnowflake } from '@tabler/icons-react';
import type { OpsOverview, StandingFence } from '@countersign/contracts/control-plane';
import { CopyCommand } from '../parts/copy-command.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { Who } from '../parts/who.tsx';
import { OpenCalls } from './open-calls.tsx';
import type { Liftable } from './resume-dialog.tsx';
import { TargetText } from './target-text.tsx';
import { Terms } from './terms.tsx';

type Props = { ops: OpsOverview; onStop: (() => void) | null; onResume: ((fence: Liftable) => void) | null };

const looks = {
  freeze: { tone: 'bad', Symbol: IconSnowflake, says: 'is frozen' },
  quarantine: { tone: 'bad', Symbol: IconShieldX, says: 'is quarantined' },
  throttle: { tone: 'wait', Symbol: IconGauge, says: 'is slowed down' },
} as const;

/** The stops in force, as the kernel has confirmed them. */
export function Fences({ ops: { kernel, fences, more_fences }, onStop, onResume }: Props) {
  if (kernel === 'unreachable') return null;
  return (
    <section aria-label="In force">
      <h2>Stopped now</h2>
      {fences.length === 0 ? <NothingStopped onStop={onStop} /> : <FenceList fences={fences} onResume={onResume} />}
      <CopyCommand words="stops ls" count={fences.length} hasShortcut={false} />
      {more_fences && <p className="quiet">More stops exist than are shown.</p>}
    </section>
  );
}

type StandingProps = Pick<Props, 'onResume'> & { fences: StandingFence[] };

/** One line for each stop. `onResume` is `null` when the person may not lift stops. */
export function FenceList({ fences, onResume }: StandingProps) {
  return (
    <ul className="list" aria-label="Stops in force">
      {fences.map((fence) => (
        <Line key={fence.scope} fence={fence} onResume={onResume} />
      ))}
    </ul>
  );
}

function Line({ fence, onResume }: Pick<Props, 'onResume'> & { fence: StandingFence }) {
  const { target, scope, kind, epoch, reason, set_by, effective_at, expires_at } = fence;
  const { tone, Symbol } = looks[kind];
  return (
    <li data-id={scope}>
      <span className={`symbol symbol-${tone}`}>
        <Symbol size={16} aria-hidden="true" />
      </span>
      <div className="grow">
        <p>
          <strong>{target === null ? <Shown text={scope} /> : <TargetText target={target} />}</strong>{' '}
          <span className="quiet">{looks[kind].says}</span> <Terms of={fence} /> · “<Shown text={reason} />”
        </p>
        <div className="quiet">
          <Who actor={set_by} />, <Moment at={effective_at} /> ·{' '}
          {expires_at === null ? (
            'until it is resumed'
          ) : (
            <>
              until <Moment at={expires_at} />
            </>
          )}{' '}
          · calls in flight: <OpenCalls calls={fence.open_dispatches} hasMore={fence.more_open_dispatches} />
        </div>
        {target === null && (
          <p className="quiet">Covers more than this workspace. The operator of the installation can lift it.</p>
        )}
      </div>
      {onResume !== null && target !== null && (
        <Button
          size="xs"
          variant="default"
          className="button"
          aria-label={`Resume ${target}`}
          onClick={() => onResume({ target, kind, reason, epoch })}
        >
          Resume
        </Button>
      )}
    </li>
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
