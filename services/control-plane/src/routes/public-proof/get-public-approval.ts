import { ApprovalId } from '@countersign/contracts';
import { getPublicApproval, HandleId } from '@countersign/contracts/control-plane';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { knownId } from '../../siblings/known-id.ts';
import { findPublished } from '../../store/evidence-handles.ts';

const Name = HandleId.or(ApprovalId);

export const getPublicApprovalRoute = ({ database, now }: Context) =>
  handlePublic(getPublicApproval)(async ({ params }) => {
    const name = knownId(Name, params.approvalId);
    const found = await findPublished(database.reader, { kind: 'approval', name, now: now() });
    if (found?.kind !== 'approval') throw notFound();
    return found.shown;
  });
