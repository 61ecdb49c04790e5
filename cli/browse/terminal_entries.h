#pragma once

// Made by testdata/terminal_entries.sh.

namespace heapsift {

struct TerminalEntry {
    const char *name, *compiled;  // compiled: as the variable TERMINFO may have it
};

inline constexpr TerminalEntry terminal_entries[] = {
    {"xterm-256color",
     "b64:HgIpAB0ADwBpAbABeHRlcm0tMjU2Y29sb3J8d2hhdCBoZWFwc2lmdCBuZWVkcyBvZiBpdAAAAQAAAQAAAAAAAA"
     "AAAQEAAAAAAAAAAAAAAQAAAVAAAAD_____GAAAAP__________________________________________________"
     "__8AAQAAAAABAP__AAACAAQA__8VAB0AIQAlAP__MABBAEMARwBOAP__UABdAP__YQD__________________2UAag"
     "D__3wA________gQD__4YA_____4sAkgD_______-kAP__________________________qgD_______-sAP__sQD_"
     "____________________________________tQD_____uQD__70AwgDHAP_______8sAzwDXAP________________"
     "_____________________________fAP_______-gA8QD___oA________________________________AwH__w4B"
     "________________________________________________EAH_____FAEaAf____________________________"
     "8gAf______________________________________________________________________________________"
     "__________________________________________________________________________________________"
     "__________________________________________________________________________________________"
     "_____________________________________________________________________________________yQB__"
     "__________________________________________________________________________________________"
     "____________________________________________________________LQH_______8xAXABBwANABtbJWklcD"
     "ElZDslcDIlZHIAG1tIG1sySgAbW0sAG1tKABtbJWklcDElZEcAG1slaSVwMSVkOyVwMiVkSAAKABtbSAAbWz8yNWwA"
     "CAAbWz8xMmwbWz8yNWgAG1tDABtbQQAbWzFtABtbPzEwNDloG1syMjswOzB0ABtbMm0AG1s3bQAbWzRtABsoQhtbbQ"
     "AbWz8xMDQ5bBtbMjM7MDswdAAbWzI0bQB_ABtbM34AG09CABtPSAAbT0QAG1s2fgAbWzV-ABtPQwAbT0EAG1s_MWwb"
     "PgAbWz8xaBs9ABtbJXAxJWRCABtbJXAxJWREABtbJXAxJWRDABtbJXAxJWRBABtbJWklcDElZGQACgAbW1oAG1s_N2"
     "gAG1s_N2wAG09GABtbMzk7NDltABtbPAAbWyU_JXAxJXs4fSU8JXQzJXAxJWQlZSVwMSV7MTZ9JTwldDklcDElezh9"
     "JS0lZCVlMzg7NTslcDElZCU7bQAbWyU_JXAxJXs4fSU8JXQ0JXAxJWQlZSVwMSV7MTZ9JTwldDEwJXAxJXs4fSUtJW"
     "QlZTQ4OzU7JXAxJWQlO20A"},
    {"screen-256color",
     "b64:HgIqAA8ADwBpAY8Bc2NyZWVuLTI1NmNvbG9yfHdoYXQgaGVhcHNpZnQgbmVlZHMgb2YgaXQAAAEAAAEAAAAAAA"
     "AAAAEBAFAAAAD_____GAAAAP____________________________________________________8AAQAAAAABAP__"
     "AAACAAQA__8VABwAIAAkAP__LwBAAEIARgBNAP__TwBbAP__XwD__________________2IAZwD__3AA________dQ"
     "D__3oA_____38AhAD_______-NAP__________________________kwD_______-VAP__mgD_________________"
     "____________________ngD_____owD__6cArACxAP_______7UAuQDBAP________________________________"
     "_____________JAP_______9IA2wD__-QA________________________________7QD___gA________________"
     "________________________________-gD________________________________________-AP____________"
     "__________________________________________________________________________________________"
     "__________________________________________________________________________________________"
     "__________________________________________________________________________________________"
     "_____________________________________________________________________wMB__________________"
     "__________________________________________________________________________________________"
     "____________________________________________DAH_______8QAU8BBwANABtbJWklcDElZDslcDIlZHIAG1"
     "tIG1tKABtbSwAbW0oAG1slaSVwMSVkRwAbWyVpJXAxJWQ7JXAyJWRIAAoAG1tIABtbPzI1bAAIABtbMzRoG1s_MjVo"
     "ABtbQwAbTQAbWzFtABtbPzEwNDloABtbMm0AG1s3bQAbWzRtABtbbQ8AG1s_MTA0OWwAG1syNG0AfwAbWzN-ABtPQg"
     "AbWzF-ABtPRAAbWzZ-ABtbNX4AG09DABtPQQAbWz8xbBs-ABtbPzFoGz0AG1slcDElZEIAG1slcDElZEQAG1slcDEl"
     "ZEMAG1slcDElZEEAG1slaSVwMSVkZAAKABtbWgAbWzR-ABtbMzk7NDltABtbTQAbWyU_JXAxJXs4fSU8JXQzJXAxJW"
     "QlZSVwMSV7MTZ9JTwldDklcDElezh9JS0lZCVlMzg7NTslcDElZCU7bQAbWyU_JXAxJXs4fSU8JXQ0JXAxJWQlZSVw"
     "MSV7MTZ9JTwldDEwJXAxJXs4fSUtJWQlZTQ4OzU7JXAxJWQlO20A"},
    {"linux",
     "b64:GgEgAB0ADwBpARMBbGludXh8d2hhdCBoZWFwc2lmdCBuZWVkcyBvZiBpdAAAAQAAAQAAAAAAAAAAAQEAAAAAAA"
     "AAAAAAAAAAAQD__________________________________wgAQAD__wAAAgAEAP__FQAcACAAJAD__y8AQABCAEYA"
     "UgD__1QAYAD__2QA__________________9oAP____9tAP_______3IA__93AP____98AP__________gQD_______"
     "___________________4cA________iQD__44A_____________________________________5IA_____5cA__-b"
     "AKAApQD_______-pAP__________________________________________________rQD_______-2AL8A___IAP"
     "_______________________________9EA___cAP_______________________________________________94A"
     "_____-EA5wD_____________________________7QD_______________________________________________"
     "__________________________________________________________________________________________"
     "__________________________________________________________________________________________"
     "__________________________________________________________________________________________"
     "___________________________________yAP____________________________________________________"
     "__________________________________________________________________________________________"
     "__________sA_________wAJAQcADQAbWyVpJXAxJWQ7JXAyJWRyABtbSBtbSgAbW0sAG1tKABtbJWklcDElZEcAG1"
     "slaSVwMSVkOyVwMiVkSAAKABtbSAAbWz8yNWwbWz8xYwAIABtbPzI1aBtbPzBjABtbQwAbW0EAG1sxbQAbWzJtABtb"
     "N20AG1s0bQAbW20PABtbMjRtAH8AG1szfgAbW0IAG1sxfgAbW0QAG1s2fgAbWzV-ABtbQwAbW0EAG1slcDElZEIAG1"
     "slcDElZEQAG1slcDElZEMAG1slcDElZEEAG1slaSVwMSVkZAAKABsJABtbPzdoABtbPzdsABtbNH4AG1szOTs0OW0A"
     "G1tNABtbMyVwMSVkbQAbWzQlcDElZG0A"},
    {"vt100",
     "b64:GgEgAA8AAwCZAN8AdnQxMDB8d2hhdCBoZWFwc2lmdCBuZWVkcyBvZiBpdAAAAQAAAQAAAAAAAAAAAAEAUAD__x"
     "gA__8AAAIABAD__xUAIQApAP____8yAEcASQD__00A_____08A__9XAP__________________XwD_____________"
     "__9oAP__cQD_____egD__________4MA__________________________-LAP____________-NAP____________"
     "________________________________-RAP_______5UA________mQCdAKUA____________________________"
     "_________________60A________tgC_AP__yAD_____________________________________0QD___________"
     "_____________________________________________TANkABwANABtbJWklcDElZDslcDIlZHIAG1tIG1tKJDw1"
     "MD4AG1tLJDwzPgAbW0okPDUwPgAbWyVpJXAxJWQ7JXAyJWRIJDw1PgAKABtbSAAIABtbQyQ8Mj4AG1tBJDwyPgAbWz"
     "FtJDwyPgAbWzdtJDwyPgAbWzRtJDwyPgAbW20PJDwyPgAbW20kPDI-AAgAG09CABtPRAAbT0MAG09BABtbPzFsGz4A"
     "G1s_MWgbPQAbWyVwMSVkQgAbWyVwMSVkRAAbWyVwMSVkQwAbWyVwMSVkQQAKABtbPzdoABtbPzdsAA=="},
};

}  // namespace heapsift
