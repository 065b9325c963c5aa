import { AsyncLocalStorage } from 'node:async_hooks';

type Sent = { mayStillSend(): Promise<boolean> | null };

/** The permit of the call that is being sent: between it and its connection stands the SDK, which hands nothing on. */
export const sending = new AsyncLocalStorage<Sent>();
