import { AsyncLocalStorage } from 'node:async_hooks';
import type { Permit } from '../boundary/dispatch.ts';

/** The permit of the call that is being sent: between it and its connection stands the SDK, which hands nothing on. */
export const sending = new AsyncLocalStorage<Pick<Permit, 'mayStillSend'>>();
