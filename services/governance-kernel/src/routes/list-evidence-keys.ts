import { listEvidenceKeys } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { evidenceKeyView } from '../evidence-signatures.ts';
import * as store from '../store/envelope-store.ts';

export const listEvidenceKeysRoute = ({ reader }: Context) =>
  handlePublic(listEvidenceKeys)(async () => ({ keys: (await store.listEvidenceKeys(reader)).map(evidenceKeyView) }));
