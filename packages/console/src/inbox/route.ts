// The sheet loads with the page, and not with the console.
import './inbox.css';

export { InboxPage } from './inbox-page.tsx';
