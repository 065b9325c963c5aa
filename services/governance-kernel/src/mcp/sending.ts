import { AsyncLocalStorage } from 'node:async_hooks';

type Sent = { mayStillSend(): Promise<boolean> | null; readonly traceparent: string | null };

/** The permit and the trace of the call that is being sent: between it and its connection stands the SDK, which hands nothing on. */
export const sending = new AsyncLocalStorage<Sent>();
