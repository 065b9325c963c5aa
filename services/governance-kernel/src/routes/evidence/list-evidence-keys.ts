import { listEvidenceKeys } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { evidenceKeyView } from '../../evidence-signatures.ts';

export const listEvidenceKeysRoute = ({ publishedKeys }: Context) =>
  handlePublic(listEvidenceKeys)(async () => ({ keys: (await publishedKeys.listEvidence()).map(evidenceKeyView) }));
