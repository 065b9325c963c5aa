export { acquireFileLock, LockBusy } from './local/registry-file/file-lock.ts';
export { replaceFile, type ReplaceStep } from './local/registry-file/replace-file.ts';
