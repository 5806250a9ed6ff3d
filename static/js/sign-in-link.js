// A person who follows a one-time link signs in at once; a program that only looks at it does not use it up.
document.getElementById("sign-in-link").requestSubmit();
