import { createHandle } from '@countersign/service-kit';
import type { Caller } from './call/governed-call.ts';
import type { SystemCaller } from './guards.ts';

/** Routes that act for one tenant. */
export const handleTenant = createHandle<Caller>('tenant_scoped');
/** Routes that act for the system: operators and sibling services. */
export const handleSystem = createHandle<SystemCaller>('admin', 'service_internal');
