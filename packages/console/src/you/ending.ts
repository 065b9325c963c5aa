/** A session, program or passkey that the person is about to end. */
export type Ending = { id: string; title: string; says: string; act: string };
