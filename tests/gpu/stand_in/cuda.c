/* A stand-in for the CUDA driver's library: it shows the GPUs whose digits FAKE_CUDA_UUIDS has, with commas between.
   FAKE_CUDA_ERROR is the error of its start. Without NEWER, it is a library that tells no parts of divided GPUs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *shown(void) { return getenv("FAKE_CUDA_UUIDS") ? getenv("FAKE_CUDA_UUIDS") : ""; }

int cuInit(unsigned flags) { (void)flags; return getenv("FAKE_CUDA_ERROR") ? atoi(getenv("FAKE_CUDA_ERROR")) : 0; }

int cuDeviceGetCount(int *count) { *count = (int)((strlen(shown()) + 1) / 33); return 0; }

int cuDeviceGet(int *device, int number) { *device = 100 + number; return 0; }

static int uuid_of(unsigned char *uuid, int device) {
    const char *digits = shown() + 33 * (device - 100);
    for (int place = 0; place < 16; place++) {
        unsigned value;
        if (sscanf(digits + 2 * place, "%2x", &value) != 1) return 101;
        uuid[place] = (unsigned char)value;
    }
    return 0;
}

#ifdef NEWER
/* The older call of such a library tells the GPU of a part, and must not be asked. */
int cuDeviceGetUuid(unsigned char *uuid, int device) { (void)uuid; (void)device; return 999; }
int cuDeviceGetUuid_v2(unsigned char *uuid, int device) { return uuid_of(uuid, device); }
#else
int cuDeviceGetUuid(unsigned char *uuid, int device) { return uuid_of(uuid, device); }
#endif
