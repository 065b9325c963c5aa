import { startDeadline } from '@countersign/contracts';
import type { GivenCommand } from '@countersign/contracts/control-plane';
import { getFence, type FenceScope } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';

const askingMs = 5_000;

type OpenCalls = Pick<GivenCommand, 'open_dispatches' | 'more_open_dispatches'>;

export const untold: OpenCalls = { open_dispatches: null, more_open_dispatches: false };

/**
 * Calls within the scope of a fence that were sent and are not settled. They are `null`, and not empty, while the
 * kernel is unreachable.
 */
export async function openCallsIn(
  { kernel, log }: Pick<Context, 'kernel' | 'log'>,
  scope: FenceScope,
): Promise<OpenCalls> {
  try {
    const { body } = await kernel
      .own({ getFence })
      .getFence({ params: { scope }, signal: startDeadline({ ms: askingMs }).signal });
    return { open_dispatches: body.in_flight, more_open_dispatches: body.more_in_flight };
  } catch (error) {
    log.warn('stop.open_calls_unknown', { scope, error });
    return untold;
  }
}
