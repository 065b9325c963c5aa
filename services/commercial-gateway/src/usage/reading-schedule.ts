const activeMs = 15_000;
const idleMsMax = 600_000;

type Turn = { dueAtMs: number; pauseMs: number };

/**
 * When the receipts of each workspace are read next. A workspace with new receipts is read again after 15 seconds. Each reading that finds
 * none doubles the pause, to at most 10 minutes, so thousands of idle workspaces cost a few requests per second.
 */
export class ReadingSchedule {
  readonly #turns = new Map<string, Turn>();

  /** A workspace that was never read is due. */
  isDue(workspaceId: string, nowMs: number): boolean {
    return (this.#turns.get(workspaceId)?.dueAtMs ?? nowMs) <= nowMs;
  }

  /** Plans the next reading after one that found so many receipts. */
  plan(workspaceId: string, { found, nowMs }: { found: number; nowMs: number }): void {
    const before = this.#turns.get(workspaceId)?.pauseMs ?? activeMs / 2;
    const pauseMs = found > 0 ? activeMs : Math.min(before * 2, idleMsMax);
    this.#turns.set(workspaceId, { dueAtMs: nowMs + pauseMs, pauseMs });
  }
}
