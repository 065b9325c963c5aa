import { runConformance } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';

/** Tests that this kernel denies what it must deny. A failed run is an answer, not an error. */
export const runConformanceRoute = ({ conformance }: Context) =>
  handleSystem(runConformance)(({ body: { scope }, caller: { principal } }) =>
    conformance.run({ scope, by: principal }),
  );
