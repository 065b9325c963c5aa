const activeMs = 15_000;
const idleMsMax = 600_000;

type Turn = { dueAtMs: number; pauseMs: number };

/**
 * Schedules when the receipts of each workspace are read next. A workspace with new receipts is read again after 15
 * seconds. Each empty reading doubles the pause, up to 10 minutes. Thousands of idle workspaces therefore cost a few
 * requests per second.
 */
export class ReadingSchedule {
  readonly #turns = new Map<string, Turn>();

  /** Returns whether the next reading of a workspace is due. A workspace that was never read is due at once. */
  isDue(workspaceId: string, nowMs: number): boolean {
    return (this.#turns.get(workspaceId)?.dueAtMs ?? nowMs) <= nowMs;
  }

  /** Schedules the next reading after a reading that found `found` receipts. */
  plan(workspaceId: string, { found, nowMs }: { found: number; nowMs: number }): void {
    const before = this.#turns.get(workspaceId)?.pauseMs ?? activeMs / 2;
    const pauseMs = found > 0 ? activeMs : Math.min(before * 2, idleMsMax);
    this.#turns.set(workspaceId, { dueAtMs: nowMs + pauseMs, pauseMs });
  }
}
