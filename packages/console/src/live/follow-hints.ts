import type { Query, QueryClient } from '@tanstack/react-query';
import type { WorkspaceId } from '@countersign/contracts';
import { Hint, type HintType } from '@countersign/contracts/control-plane';

/**
 * The hint types that affect a query, by the first part of its key. A query without an entry is affected by all hints.
 */
const about: Readonly<Record<string, readonly HintType[]>> = {
  approvals: ['approval', 'policy', 'fence'],
  commercial: [],
  governance: [],
  receipts: [],
  tasks: ['task', 'run', 'approval'],
};

type Followed = {
  /** Handles a message of the socket. Messages are attacker-controlled, like all input. */
  hear(text: string): void;
  /**
   * Handles the place in the sequence of hints that the snapshot has reached. If hints up to that place are missing,
   * all queries except the snapshot are read again.
   */
  reach(seq: number): void;
};

/**
 * Reads queries of a workspace again when a hint affects them. After a gap and after each new connection, all queries
 * are read again, because missed hints are unknown.
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
