import { AppError } from '@countersign/contracts';
import { getScimUser } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleScim } from '../../handle.ts';
import { answerRead, userAnswers } from '../../provisioning/resource-answers.ts';
import { findScimUser } from '../../store/scim-users.ts';

export const getScimUserRoute = (context: Context) =>
  handleScim(getScimUser)(async ({ params: { id }, query, caller: { orgId }, req }) => {
    const found = await findScimUser(context.database.reader, { orgId, id });
    if (found === null) throw new AppError('NOT_FOUND', 'The organisation has no user with this id.');
    return answerRead(await userAnswers(context, found, query), req.headers['if-none-match']);
  });
