import type { Instant, TenantId } from '@countersign/contracts';
import type { ServerHealth } from '@countersign/contracts/governance-kernel';
import { problemText } from '@countersign/service-kit';
import { instant } from '../approvals/timelock.ts';
import { CallSlots } from './call-slots.ts';
import { Circuit } from './circuit.ts';
import type { Redact } from './configured-secrets.ts';
import { shownLine } from './last-words.ts';
import type { McpServerConfig } from './server-config.ts';
import { Suspended } from './not-reached.ts';

type GuardOptions = {
  config: McpServerConfig;
  redact: Redact;
  /** The server did not answer. */
  isServerFault(error: unknown): boolean;
  /** The connection or its session has ended. */
  isLost(error: unknown): boolean;
  callTimeoutMs: number;
  listTimeoutMs: number;
  now: () => number;
  clock: () => Date;
};

type Call<Result> = { tenant: TenantId; signal: AbortSignal; send(): Promise<Result> };

/** Slow tools exist, so that one slow call proves nothing. */
const callFailuresMax = 5;

/** Limits what one server can cost the kernel, and records its health as this kernel sees it. */
export class ServerGuard {
  readonly #options: GuardOptions;
  readonly #slots: CallSlots;
  readonly #calls: Circuit;
  /** Decisions wait for lists, so that one list without an answer opens it. */
  readonly #lists: Circuit;
  #state: ServerHealth['state'] = 'idle';
  #sinceMs: number;
  #lastError: { message: string; at: Instant } | null = null;

  constructor(options: GuardOptions) {
    const { config, callTimeoutMs, listTimeoutMs, now, clock } = options;
    this.#options = options;
    this.#slots = new CallSlots(config.limits?.concurrent_calls);
    this.#calls = new Circuit({ failuresMax: callFailuresMax, attemptMsMax: callTimeoutMs, now });
    this.#lists = new Circuit({ failuresMax: 1, attemptMsMax: listTimeoutMs, now });
    this.#sinceMs = clock().getTime();
  }

  /** Throws NotSent when the server has too many calls in progress, or did not answer the last ones. */
  async call<Result>({ tenant, signal, send }: Call<Result>): Promise<Result> {
    const release = this.#slots.take(tenant);
    try {
      const attempt = this.#calls.begin();
      if (attempt === null)
        throw new Suspended('The last calls of the MCP server got no answer. A later call is sent as a trial');
      return await this.#watched(attempt, send, (error) => this.#options.isServerFault(error) && !signal.aborted);
    } finally {
      release();
    }
  }

  /** A server that has gone is connected to again, so that its circuit stays as it is. */
  async list<Result>(send: () => Promise<Result>): Promise<Result> {
    const attempt = this.#lists.begin();
    if (attempt === null)
      throw new Suspended('The MCP server did not list its tools. A later list is requested as a trial');
    return await this.#watched(
      attempt,
      send,
      (error) => this.#options.isServerFault(error) && !this.#options.isLost(error),
    );
  }

  connected(): void {
    this.#become(this.#calls.isOpen || this.#lists.isOpen ? 'suspended' : 'connected');
  }

  unreachable(problem: string): void {
    this.#become('unreachable');
    this.#failed(problem);
  }

  /** `failures` and `retryAtMs`: of the connection. */
  view({ failures, retryAtMs }: { failures: number; retryAtMs: number }): ServerHealth {
    const { now, clock } = this.#options;
    const open = [this.#calls, this.#lists].find(({ isOpen }) => isOpen);
    const dueAtMs = failures > 0 ? retryAtMs : open?.retryAtMs;
    const inMs = dueAtMs === undefined ? null : Math.max(0, Math.round(dueAtMs - now()));
    return {
      state: this.#state,
      since: instant(this.#sinceMs),
      consecutive_failures: failures > 0 ? failures : Math.max(this.#calls.failures, this.#lists.failures),
      last_error: this.#lastError,
      retry_at: inMs === null ? null : instant(clock().getTime() + inMs),
      running_calls: this.#slots.running,
    };
  }

  async #watched<Result>(
    attempt: { succeeded(): void; failed(): void },
    send: () => Promise<Result>,
    isFailure: (error: unknown) => boolean,
  ): Promise<Result> {
    try {
      const result = await send();
      attempt.succeeded();
      return result;
    } catch (error) {
      if (isFailure(error)) {
        attempt.failed();
        this.#failed(shownLine(this.#options.redact(problemText(error))));
      } else if (!this.#options.isServerFault(error)) attempt.succeeded();
      throw error;
    } finally {
      if (this.#state !== 'unreachable') this.connected();
    }
  }

  #become(state: ServerHealth['state']): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#sinceMs = this.#options.clock().getTime();
  }

  #failed(message: string): void {
    this.#lastError = {
      message: message.slice(0, messageLengthMax),
      at: instant(this.#options.clock().getTime()),
    };
  }
}

const messageLengthMax = 512;
