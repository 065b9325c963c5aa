import { createHandle } from '@countersign/service-kit';
import type { Caller } from './call/governed-call.ts';
import type { SystemCaller } from './guards.ts';

/** Creates the endpoints of routes that act for one tenant. */
export const handleTenant = createHandle<Caller>('tenant_scoped');
/** Creates the endpoints of routes that act for the system, for operators and sibling services. */
export const handleSystem = createHandle<SystemCaller>('admin', 'service_internal');
