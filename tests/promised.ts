/**
 * One promise of the system. A test proves it by `verifies('<id>', …)`. `source` is the document of the promise: the
 * interface document of the gateway (doc1), of the kernel (doc2), of control plane and commercial gateway (doc3), or
 * the project's card.
 */
export type Promised = { id: string; source: 'doc1' | 'doc2' | 'doc3' | 'card'; promise: string };
