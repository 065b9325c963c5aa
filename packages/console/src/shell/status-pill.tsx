import {
  IconAlertTriangle,
  IconPlugOff,
  IconShieldCheck,
  IconShieldX,
  IconSnowflake,
  type Icon,
} from '@tabler/icons-react';
import type { Snapshot } from '@countersign/contracts/control-plane';
import { useSnapshot } from '../live/snapshot.ts';

type State = { tone: 'good' | 'wait' | 'bad' | 'off'; word: string; Symbol: Icon };

/** Whether calls are being decided in this workspace. The worst state wins. */
export function StatusPill() {
  const { data, error } = useSnapshot();
  const { tone, word, Symbol } = stateOf(data, error !== null);
  const stops = error === null ? (data?.boundary?.counts.fences ?? 0) : 0;
  return (
    <span className={`pill pill-${tone}`} role="status" aria-label="Enforcement">
      <Symbol size={16} aria-hidden="true" />
      {word}
      {stops > 0 && <span className="pill-more wide-only">{stops === 1 ? '1 stop' : `${stops} stops`}</span>}
    </span>
  );
}

function stateOf(snapshot: Snapshot | undefined, isUnread: boolean): State {
  if (isUnread) return { tone: 'off', word: 'Offline', Symbol: IconPlugOff };
  if (snapshot === undefined) return { tone: 'off', word: 'Connecting', Symbol: IconPlugOff };
  const { boundary, counts } = snapshot;
  if (boundary === null) return { tone: 'bad', word: 'No contact', Symbol: IconAlertTriangle };
  if (boundary.status === 'closed') return closed(boundary);
  if (counts.unconfirmed_commands > 0) return { tone: 'wait', word: unconfirmed(counts), Symbol: IconAlertTriangle };
  return { tone: 'good', word: 'Enforcing', Symbol: IconShieldCheck };
}

function closed({ policy }: NonNullable<Snapshot['boundary']>): State {
  if (policy.state === 'fresh') return { tone: 'bad', word: 'Frozen', Symbol: IconSnowflake };
  return { tone: 'bad', word: 'Denying all calls', Symbol: IconShieldX };
}

function unconfirmed({ unconfirmed_commands: count }: Snapshot['counts']): string {
  return count === 1 ? '1 stop not confirmed' : `${count} stops not confirmed`;
}
