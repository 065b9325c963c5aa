import { z } from 'zod';
import { defineEvent } from '../event.ts';
import { SignInId, UserId } from '../scalars.ts';

/** A session of a browser is over; whoever holds something open for it lets it go. */
export const sessionEnded = defineEvent({
  type: 'session.ended.v1',
  data: z.strictObject({
    session_id: SignInId,
    user_id: UserId,
    reason: z.enum(['signed_out', 'refresh_reused']),
  }),
});
