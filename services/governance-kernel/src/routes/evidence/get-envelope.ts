import { getEnvelope } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { manifestView } from '../../evidence/envelopes/manifest.ts';
import { handleTenant } from '../../handle.ts';
import * as store from '../../store/envelope-store.ts';

export const getEnvelopeRoute = ({ reader }: Context) =>
  handleTenant(getEnvelope)(async ({ params, caller: { tenant } }) =>
    manifestView(await store.getEnvelope(reader, tenant, params.manifest_id)),
  );
