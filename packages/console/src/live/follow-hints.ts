import type { Query, QueryClient } from '@tanstack/react-query';
import type { WorkspaceId } from '@countersign/contracts';
import { Hint, type HintType } from '@countersign/contracts/control-plane';

/**
 * The hint types of a query, by the first word of its key. One that is not named here is read again whatever changes.
 */
const about: Readonly<Record<string, readonly HintType[]>> = {
  approvals: ['approval', 'policy', 'fence'],
  commercial: [],
  governance: [],
  receipts: [],
  tasks: ['task', 'run', 'approval'],
};

type Followed = {
  /** Takes a message of the socket (attacker-controlled, like all that comes in). */
  hear(text: string): void;
  /** The snapshot has seen this place: what leads there and was not told is made good. */
  reach(seq: number): void;
};

/**
 * Has what is shown of a workspace read again, as hints say that it changed. After a gap, and whenever a socket was
 * opened, all of it is read again, since missed hints are unknown.
 */
export function followHints(queries: QueryClient, workspaceId: WorkspaceId): Followed {
  let place: number | null = null;
  const readAgain = (isConcerned: (what: string) => boolean) => {
    const predicate = ({ queryKey: [whose, what] }: Query) => whose === workspaceId && isConcerned(String(what));
    void queries.invalidateQueries({ predicate });
  };
  return {
    hear: (text) => {
      const { data: hint = null } = Hint.safeParse(parsed(text));
      if (hint !== null && hint.type !== 'ready' && place !== null && hint.seq <= place) return;
      const follows = hint !== null && hint.type !== 'ready' && place !== null && hint.seq === place + 1;
      place = hint?.seq ?? null;
      readAgain((what) => !follows || isAbout(what, hint.type));
    },
    reach: (seq) => {
      if (place === null || seq <= place) return;
      place = seq;
      readAgain((what) => what !== 'snapshot');
    },
  };
}

function isAbout(what: string, type: Hint['type']): boolean {
  const types: readonly string[] | undefined = about[what];
  return types === undefined || types.includes(type);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
