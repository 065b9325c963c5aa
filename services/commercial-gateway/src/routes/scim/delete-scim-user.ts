import { deleteScimUser } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleScim } from '../../handle.ts';
import { deleteUser } from '../../provisioning/change-user.ts';
import { requestOf } from '../../provisioning/scim-caller.ts';

export const deleteScimUserRoute = (context: Context) =>
  handleScim(deleteScimUser)(async (input) => {
    await deleteUser(context, input.params.id, requestOf(input));
    return undefined;
  });
